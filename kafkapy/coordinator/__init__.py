"""Coordinators: what groups and transactions are, folded from and written to the internal topics."""
