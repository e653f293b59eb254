"""Handlers of the apis for the controllers' quorum."""
