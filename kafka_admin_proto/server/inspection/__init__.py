"""What tests see of a cluster without a client: its records, its groups, and what was asked."""
