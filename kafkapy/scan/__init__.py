"""The bulk path: columns out of segments at memory speed, and lines out of columns."""
