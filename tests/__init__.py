"""Mirrors the rooms of the package; `tools/` and `docs/` have the tests of these folders."""
