"""Handlers of the apis for ACLs."""
