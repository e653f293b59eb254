"""Decoded frames → rows of each table."""
