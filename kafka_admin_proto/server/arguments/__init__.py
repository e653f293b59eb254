"""The arguments of a cluster: checked where they are given, and what follows from them."""
