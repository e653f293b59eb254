"""What brokers answer about users and their SCRAM credentials."""
