"""Handlers of the apis about share groups (KIP-932)."""
