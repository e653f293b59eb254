"""Real clients' admin commands on our cluster and on a real one, with equal outputs."""
