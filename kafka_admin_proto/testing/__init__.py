"""Hypothesis strategies for the values of any message, for this and other projects' tests.

from hypothesis import given
from kafka_admin_proto.testing import messages

@given(messages("CreateTopicsRequest", 1))
def test_something(request): ...

``pytest_plugin`` has fixtures with a cluster; pytest finds them by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["messages", "struct_values"]

if TYPE_CHECKING:
    from kafka_admin_proto.testing.strategies import messages, struct_values
else:  # pytest loads the plugin in each of its runs, where hypothesis may be missing
    from kafka_admin_proto.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__, {"strategies": ["messages", "struct_values"]})
