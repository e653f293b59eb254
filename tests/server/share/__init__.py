"""Tests of the group coordinators."""
