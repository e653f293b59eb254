"""Dumps and captures to blocks of bytes."""
