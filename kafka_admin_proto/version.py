"""The version of this package, and of the compiled engine that fits it."""

__version__ = "0.1.0"
