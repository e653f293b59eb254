"""Handlers of the apis for groups."""
