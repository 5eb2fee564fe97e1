"""Replication of one partition: leader, followers, the messages between them, and who is in sync."""
