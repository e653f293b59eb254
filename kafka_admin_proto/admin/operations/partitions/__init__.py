"""Partitions: adding them, moving their replicas, electing leaders, their records."""
