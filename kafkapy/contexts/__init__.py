"""Named clusters: the user's config.yaml, and what it adds to a command line."""
