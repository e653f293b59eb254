"""KIP-516's controller."""
