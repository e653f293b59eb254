"""Commands that look up definitions: messages and error codes."""
