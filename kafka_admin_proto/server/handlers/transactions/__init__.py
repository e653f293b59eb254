"""Handlers of requests about transactions."""
