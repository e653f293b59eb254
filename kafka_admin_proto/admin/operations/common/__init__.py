"""Helpers of several operations: the broker to ask, errors of items, timeouts, waiting."""
