"""Topics and partitions: names, replicas, changes, policies."""
