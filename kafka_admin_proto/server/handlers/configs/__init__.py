"""What brokers answer about configs."""
