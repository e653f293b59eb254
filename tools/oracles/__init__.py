"""Independent implementations to compare with: Kafka's Java classes and Wireshark's dissector."""
