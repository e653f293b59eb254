"""What tests of several rooms use: every message, how much to draw, what must be installed."""
