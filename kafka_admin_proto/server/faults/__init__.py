"""Faults on request in a cluster, by the grammar of ``faults/``: what they do to its answers.

Imported only where a cluster has faults; ``docs/server-faults.md`` has all words.
"""
