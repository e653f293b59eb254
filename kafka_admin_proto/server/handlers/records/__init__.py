"""Requests of producers and consumers: records, their offsets, and producers' ids."""
