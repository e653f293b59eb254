"""Brokers that are several: views of the log, leaders on failure, starts and stops."""
