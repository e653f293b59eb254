"""Mirrors the rooms of the package; vectors are data files."""
