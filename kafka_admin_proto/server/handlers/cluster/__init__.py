"""What brokers answer about themselves: versions, features, log folders, brokers."""
