"""Which logs there are, and how far the replicas of each have followed its leader."""
