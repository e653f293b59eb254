"""Logs with their replicas, and what waits for them."""
