"""Ordered bytes of a connection to frames: requests paired with their responses."""
