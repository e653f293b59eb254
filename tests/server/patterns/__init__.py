"""Tests of regular expressions of clients."""
