"""What Kafka keeps on disk, as far as it is not a message of the protocol."""
