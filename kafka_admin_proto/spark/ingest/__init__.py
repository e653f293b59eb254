"""Captures, request logs and metadata segments on disk or in a store, as rows of packets."""
