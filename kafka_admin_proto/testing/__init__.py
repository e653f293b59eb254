"""Hypothesis strategies for the values of any message, for this and other projects' tests.

from hypothesis import given
from kafka_admin_proto.testing import messages

@given(messages("CreateTopicsRequest", 1))
def test_something(request): ...
"""

from __future__ import annotations

from kafka_admin_proto.testing.strategies import messages, struct_values

__all__ = ["messages", "struct_values"]
