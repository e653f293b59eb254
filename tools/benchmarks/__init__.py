"""Benchmarks; each writes its page in ``docs/``."""
