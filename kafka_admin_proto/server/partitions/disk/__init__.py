"""Logs of partitions in files, in Kafka's formats and layout."""
