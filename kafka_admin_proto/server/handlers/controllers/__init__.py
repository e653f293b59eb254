"""Handlers of the apis that answer on a controller's listener alone, or in another way there."""
