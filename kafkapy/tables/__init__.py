"""Log directories as tables: rows as Arrow batches, split so that many processes can read them at once."""
