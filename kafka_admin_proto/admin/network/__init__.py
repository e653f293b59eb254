"""Connections to brokers: opening, pooling and tracing them."""
