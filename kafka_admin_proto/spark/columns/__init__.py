"""Kafka's bytes in a column as typed structs, and back."""
