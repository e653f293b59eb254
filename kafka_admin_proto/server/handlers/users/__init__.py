"""Handlers of the apis for users and their SCRAM credentials."""
