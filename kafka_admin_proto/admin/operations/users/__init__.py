"""Users: their SCRAM credentials and delegation tokens."""
