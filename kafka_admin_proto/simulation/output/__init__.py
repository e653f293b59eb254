"""A run's trace as people and programs read it: rows, a capture, a page with its diagram."""
