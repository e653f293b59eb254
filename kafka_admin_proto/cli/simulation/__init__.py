"""Commands that run KIP-516's simulation."""
