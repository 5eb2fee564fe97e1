"""kafkapy: Apache Kafka's admin scripts as one Python program over files, log dirs and running clusters."""

__version__ = "0.1.0"
