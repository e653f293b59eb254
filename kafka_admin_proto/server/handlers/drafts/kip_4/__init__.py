"""CreateTopics by the text of KIP-4, in Kafka's own message."""
