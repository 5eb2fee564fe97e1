"""Scripts with the names of Kafka's own that run kafkapy.

scripts.py     which script is which command, and the text of each
directory.py   writing them into a directory, and removing them from it
"""
