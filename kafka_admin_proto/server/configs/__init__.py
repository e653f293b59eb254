"""Configs of topics, brokers, groups and client metrics: what Kafka defines, checks and shows."""
