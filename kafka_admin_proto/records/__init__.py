"""What Kafka keeps in its logs and on disk, as far as it is not a message of the protocol."""
