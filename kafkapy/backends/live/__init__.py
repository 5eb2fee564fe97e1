"""A running cluster: requests over the network to real brokers."""
