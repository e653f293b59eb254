"""The same for files as they appear, batch by batch."""
