"""Captures, request logs and metadata logs as tables, and questions to these; without Spark."""
