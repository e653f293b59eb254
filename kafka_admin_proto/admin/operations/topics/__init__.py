"""Topics: creating, deleting, listing, describing and altering them."""
