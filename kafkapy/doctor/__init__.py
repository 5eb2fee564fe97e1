"""``kafkapy doctor``: what is wrong with the surroundings or with a cluster, and what to do about it. Reads only."""
