"""What brokers answer about quotas of clients."""
