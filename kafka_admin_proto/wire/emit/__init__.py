"""The emitted code: what builds its source, what it calls, and how source becomes functions."""
