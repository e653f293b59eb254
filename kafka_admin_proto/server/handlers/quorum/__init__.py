"""What brokers answer about the controllers' quorum."""
