"""Commands for records and their offsets."""
