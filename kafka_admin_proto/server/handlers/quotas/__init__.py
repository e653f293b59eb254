"""Handlers of the apis for quotas of clients."""
