"""Connections to brokers: opened, kept, watched."""
