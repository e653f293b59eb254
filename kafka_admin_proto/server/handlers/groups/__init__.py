"""What brokers answer about groups."""
