"""Commands for a live cluster: a module for each group, what they share in ``common/``."""
