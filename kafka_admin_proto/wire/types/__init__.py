"""The wire types themselves: one class for each kind of field, and the structs around them."""
