"""For this and other projects' tests: Hypothesis strategies, certificates, a plugin for pytest.

from hypothesis import given
from kafka_admin_proto.testing import messages

@given(messages("CreateTopicsRequest", 1))
def test_something(request): ...

``certificates(folder)`` makes what tests of TLS need. ``pytest_plugin`` has fixtures with a cluster
and a marker for their settings; pytest finds them by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

if TYPE_CHECKING:
    from kafka_admin_proto.testing.strategies import messages as messages
    from kafka_admin_proto.testing.strategies import struct_values as struct_values
    from kafka_admin_proto.testing.tls import Authority as Authority
    from kafka_admin_proto.testing.tls import Certificate as Certificate
    from kafka_admin_proto.testing.tls import Certificates as Certificates
    from kafka_admin_proto.testing.tls import certificates as certificates
else:
    __getattr__, __dir__ = lazy_names(__name__)
