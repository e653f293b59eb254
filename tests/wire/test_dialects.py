"""Values of another dialect: refused by the codec of their namesake, with the names of both."""

from __future__ import annotations

import pytest

from kafka_admin_proto import codec
from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.schema.catalog import catalog

#: Messages that a dialect and Kafka both have.
NAMESAKES = [
    (dialect, name)
    for dialect in catalog().dialects()
    if dialect != "kafka"
    for name in catalog().names(dialect)
    if name in catalog().names()
]


@pytest.mark.parametrize(("dialect", "name"), NAMESAKES)
def test_a_namesake_of_another_dialect_is_a_sentence(dialect: str, name: str) -> None:
    codecs = {
        each: codec(name, catalog().entry(name, each).versions.highest, dialect=each)
        for each in (dialect, "kafka")
    }
    for mine, other in ((dialect, "kafka"), ("kafka", dialect)):
        value = codecs[other].value_class()
        for write in (codecs[mine].encode, codecs[mine].to_json):
            with pytest.raises(EncodeError) as refused:
                write(value)
            text = f"{name} of the dialect {mine}, got one of the dialect {other}; take the codec"
            assert text in str(refused.value)
