"""One partition directory: its files, their names, and reading them."""
