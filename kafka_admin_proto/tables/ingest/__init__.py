"""Captures, request logs and metadata segments on disk or in a store, as packets and chunks."""
