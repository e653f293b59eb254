"""What brokers answer about ACLs."""
