"""Captures of any size on Spark, and Kafka's messages as columns."""
