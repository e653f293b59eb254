"""Handlers of the apis for configs."""
