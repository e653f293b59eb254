"""Definitions in the JSON notation of Kafka's generator: its reader and its writer."""
