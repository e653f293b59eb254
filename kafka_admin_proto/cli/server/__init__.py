"""Commands that run and control a reference cluster."""
