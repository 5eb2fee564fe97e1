"""Columns out of batches, and lines out of columns: compiled where it could be, else plain Python."""
