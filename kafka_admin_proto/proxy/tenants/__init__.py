"""One tenant of a cluster: its names of topics, groups and transactional ids have a prefix."""
