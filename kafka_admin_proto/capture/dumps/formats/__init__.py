"""The formats of dumps: a module for each, which ends in its ``READER``."""
