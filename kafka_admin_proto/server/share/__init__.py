"""Share groups' records (KIP-932): who has which of a partition, and how far the group is."""
