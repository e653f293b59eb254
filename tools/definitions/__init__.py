"""Kafka's definitions: imported, merged, compared, and the classes generated from them."""
