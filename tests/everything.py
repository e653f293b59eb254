"""Every (message, version) that the package ships, for parametrized tests."""

from __future__ import annotations

import pytest

from kafka_admin_proto.schema.catalog import catalog

EVERY = [
    (name, version) for name in catalog().names() for version in catalog().entry(name).versions
]
LATEST = [(name, catalog().entry(name).versions.highest) for name in catalog().names()]

every_message = pytest.mark.parametrize(
    ("name", "version"), EVERY, ids=[f"{name}-v{version}" for name, version in EVERY]
)
latest_messages = pytest.mark.parametrize(
    ("name", "version"), LATEST, ids=[f"{name}-v{version}" for name, version in LATEST]
)
