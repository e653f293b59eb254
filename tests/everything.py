"""Every (message, version) that the package ships, for parametrized tests."""

from __future__ import annotations

import pytest

from kafka_admin_proto.schema.catalog import catalog

EVERY = [
    (name, version) for name in catalog().names() for version in catalog().entry(name).versions
]

every_message = pytest.mark.parametrize(
    ("name", "version"), EVERY, ids=[f"{name}-v{version}" for name, version in EVERY]
)
#: Every draft at every version: (dialect, name, version).
DRAFTS = [
    (dialect, name, version)
    for dialect in catalog().dialects()
    if dialect != "kafka"
    for name in catalog().names(dialect)
    for version in catalog().entry(name, dialect).versions
]
#: The above and what shipped.
EVERY_DIALECT = [("kafka", name, version) for name, version in EVERY] + DRAFTS

every_message_of_every_dialect = pytest.mark.parametrize(
    ("dialect", "name", "version"),
    EVERY_DIALECT,
    ids=[f"{name}-v{version}-{dialect}" for dialect, name, version in EVERY_DIALECT],
)
