"""Handlers of the apis for delegation tokens (KIP-48)."""
