"""Files of a partition's folder: segments, ``partition.metadata``; records of Kafka's topics."""
