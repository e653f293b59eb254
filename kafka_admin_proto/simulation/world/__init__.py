"""The deterministic world: clock, network, store and trace."""
