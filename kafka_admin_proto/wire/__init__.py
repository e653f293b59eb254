"""The wire types: each parses, builds and sizes one kind of field, knows its JSON form, and emits
the fast code for itself.

They are ``construct.Construct`` subclasses; ``grammar.message_type`` puts them together into the
tree of one message at one version. The tree is the reference for what bytes mean.
"""
