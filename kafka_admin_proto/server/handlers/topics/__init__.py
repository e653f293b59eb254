"""What brokers answer about topics and their partitions."""
