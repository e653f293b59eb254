"""Tests of the transaction coordinators."""
