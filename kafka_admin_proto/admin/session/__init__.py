"""Requests to a cluster: each to the right broker, repeated where that helps, within a timeout."""
