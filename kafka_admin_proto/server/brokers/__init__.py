"""Several brokers: their views of the log, new leaders after failures, starts and stops."""
