"""The metadata log on disk, in Kafka's own format and layout."""
