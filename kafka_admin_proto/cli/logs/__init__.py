"""Commands that read Kafka's files: metadata logs and segments."""
