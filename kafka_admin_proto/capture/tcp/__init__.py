"""Packets of a connection to its bytes in order, with the gaps between them."""
