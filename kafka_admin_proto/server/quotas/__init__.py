"""Quotas of clients, and how they throttle."""
