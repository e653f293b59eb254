"""Commands that read captured bytes."""
