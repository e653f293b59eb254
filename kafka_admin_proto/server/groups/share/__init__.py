"""Share groups (KIP-932): the coordinator lets several members have a partition."""
