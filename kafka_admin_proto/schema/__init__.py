"""What a message looks like: the model, its notations and the catalog. No bytes here."""
