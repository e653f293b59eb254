"""The log of one partition: batches in segments, producers, epochs, retention and compaction.

It knows no requests, sockets or tasks; the time is an argument, in milliseconds since 1970.
"""
