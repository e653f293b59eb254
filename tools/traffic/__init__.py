"""Real brokers and clients whose traffic is captured."""
