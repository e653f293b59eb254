"""Packets of each connection as rows of the tables, and the tables as files."""
