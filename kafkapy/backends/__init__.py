"""One small Cluster interface, and the kinds of cluster behind it."""
