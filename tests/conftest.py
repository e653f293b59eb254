"""Hypothesis profiles, and what tests of every message share.

``KAFKA_ADMIN_PROTO_PROFILE=exhaustive`` draws at least 200 values for each (message, version);
the profile for each run draws a few, the same ones every time.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "quick", max_examples=4, derandomize=True, deadline=None, suppress_health_check=_SLOW
)
settings.register_profile(
    "exhaustive",
    max_examples=200,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=_SLOW,
)
settings.load_profile(os.environ.get("KAFKA_ADMIN_PROTO_PROFILE", "quick"))
