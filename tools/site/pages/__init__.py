"""Whole pages that are made of the definitions and the code, and have no file in ``docs/``."""
