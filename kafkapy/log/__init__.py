"""One partition directory: its files, their names, reading and writing them as a broker does."""
