"""Streams groups (KIP-1071): the coordinator gives tasks of a topology to applications."""
