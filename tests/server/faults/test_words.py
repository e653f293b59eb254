"""Faults as text, in Python and on the command line: parsed, or refused with a reason."""

from __future__ import annotations

import pytest

from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.faults.error_answers import Failure
from kafka_admin_proto.server.faults.fault import Condition, Effect
from kafka_admin_proto.server.faults.faults import Faults
from kafka_admin_proto.server.faults.topics import Target
from kafka_admin_proto.server.faults.words import FaultError
from tests.server.test_cluster import serve


def test_words_mean_what_arguments_do() -> None:
    faults = Faults()
    spoken = faults.add_text(
        "api=create_topics version=5+ topic='orders-*' partition=0 client-id=me node=2 count=3 "
        "error=notcontroller message='not here' delay-ms=20"
    )
    said = faults.add(
        api="CreateTopics", versions="5+", topic="orders-*", partition=0, client_id="me", node=2,
        count=3, error=41, message="not here", delay_ms=20,
    )  # fmt: skip
    assert spoken.condition == said.condition
    assert spoken.effect == said.effect
    assert said.condition == Condition(19, VersionRange(5, 32767), Target("orders-*", 0), "me", 2)
    assert said.effect == Effect(delay_ms=20, failure=Failure(41, "not here"))
    assert (spoken.count, said.count) == (3, 3)
    assert faults.add_text(said.text).condition == said.condition
    assert list(faults)[:2] == [spoken, said]
    faults.clear()
    assert list(faults) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("api=Metdata cut=after", "there is no api 'Metdata'; did you mean Metadata"),
        ("api=Metadata", "a fault does something: give one of delay-ms, throttle-ms, error"),
        ("error=NOT_A_CONTROLLER", "did you mean NOT_CONTROLLER"),
        ("error=99999", "the error code 99999 is none"),
        ("erorr=1", "a fault has no 'erorr'; did you mean error?"),
        ("cut", "'cut' in the fault 'cut' is no NAME=VALUE"),
        ("cut=never", "cut is not 'never'; there are before, within, after"),
        ("cut=after drop=answer", "a fault has one of cut and drop, not both"),
        ("cut=after cut=before", "cut is there twice"),
        ("delay-ms=soon", "delay-ms is a whole number, not 'soon'"),
        ("delay-ms=0", "delay-ms is 0; it is 1 or more"),
        ("cut=after count=0", "count is 0; it is 1 or more"),
        ("version=9- cut=after", "'9-' is not a version range"),
        ("message=hello cut=after", "a message goes with an error"),
        ("error='", "does not read: No closing quotation"),
    ],
)
def test_what_cannot_be_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(FaultError) as raised:
        Faults().add_text(text)
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({"Metadata": "20+"}, "Metadata is served in versions 0-13, and none of them is in 20+"),
        ({"Fetch": "0-3"}, "there is no api 'Fetch'"),
        ({"ApiVersions": "none"}, "ApiVersions cannot be left out"),
        ({"Metadata": "new"}, "'new' is not a version range"),
    ],
)
def test_versions_that_cannot_be(versions: dict[str, str], sentence: str) -> None:
    with pytest.raises(FaultError) as raised:
        SyncCluster(api_versions=versions)
    assert sentence in str(raised.value)


def test_kap_serve_says_so() -> None:
    with serve("--fault", "api=Metadata eror=1") as process:
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (2, "")
    assert "a fault has no 'eror'; did you mean error?" in errors
