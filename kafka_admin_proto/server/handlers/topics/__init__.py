"""Handlers of the apis for topics and partitions."""
