"""The tables beside ``frames``: a module for each, which ends in its ``TABLE``."""
