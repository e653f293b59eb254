"""Quotas of clients, and throttling by them."""
