"""Who gets which partition: Kafka's assignors, to the partition.

Classic groups divide on the client of their leader: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``. In
consumer groups of the new protocol the coordinator divides: ``uniform``, ``range``. ``registry`` finds one by name.
"""
