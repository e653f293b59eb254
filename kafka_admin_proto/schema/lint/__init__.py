"""All slips of a text at once, with their lines: of definitions as JSON, and of proposals."""
