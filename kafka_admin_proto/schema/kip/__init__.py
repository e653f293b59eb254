"""Definitions in the grammar notation of the proposals and of Kafka's protocol guide."""
