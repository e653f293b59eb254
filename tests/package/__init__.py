"""The package as a whole: its rooms, public names, types and errors, its wheel, and no secrets."""
