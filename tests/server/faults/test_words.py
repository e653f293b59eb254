"""Faults as text, in Python and on the command line: parsed, or refused with a reason."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.faults.fault import Condition, Effect
from kafka_admin_proto.faults.faults import Faults
from kafka_admin_proto.faults.topics import Target
from kafka_admin_proto.faults.words import FaultError
from kafka_admin_proto.protocol.api_keys import METADATA
from kafka_admin_proto.protocol.error_answers import Failure
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.apis import served_apis
from kafka_admin_proto.server.faults.older import with_versions
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.helpers.kap import run_kap
from tests.server.test_cluster import serve


def test_words_mean_what_arguments_do() -> None:
    faults = SyncCluster(3).faults
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
        (
            "api=StopReplica cut=after",
            "there is no api 'StopReplica' in this cluster; kap cluster versions",
        ),
        ("node=4 cut=after", "node: there is no broker 4; brokers are 1 to 3"),
        ("node=0 cut=after", "node: there is no broker 0; brokers are 1 to 3"),
        ("api=Metadata version=14+ cut=after", "not served in versions 14+, but in 0-13"),
        ("version=99 cut=after", "no api is served in versions 99"),
        ("api=ListGroups group=a cut=after", "ListGroups are about no groups; leave group out"),
        ("api=ListGroups topic=a cut=after", "ListGroups are about no topics; leave topic"),
        ("api=ApiVersions partition=0 cut=after", "are about no topics; leave partition out"),
        ("api=Metadata error=41 message=no", "answers of Metadata have no text for an error"),
        ("api=Produce garbage=records", "is for answers to Fetch; give api=Fetch, too"),
        ("api=SaslHandshake cut=after", "a connection answers SaslHandshake by itself"),
        ("error=NONE", "NONE is no error: leave error out, or name one"),
        ("topic= cut=after", "topic is empty; leave it out for any topic"),
        ("cut=before error=41", "with cut=before nothing is answered: leave error out"),
        ("cut=before throttle-ms=5", "with cut=before nothing is answered: leave throttle-ms out"),
        ("drop=request error=41", "with drop=request nothing is answered: leave error out"),
        ("drop=request delay-ms=5", "with drop=request nothing is answered: leave delay-ms out"),
        ("drop=answer delay-ms=5", "with drop=answer nothing is answered: leave delay-ms out"),
        ("drop=answer throttle-ms=5", "with drop=answer nothing is answered: leave throttle-ms"),
        (
            "api=Fetch garbage=records error=1",
            "with error there are no records that could be garbage: leave one of the two out",
        ),
        ("version=14+ group=a cut=after", "no request meets version=14+ and group=a together"),
        (
            "version=11+ topic=a partition=0 group=b cut=after",
            "no request meets version=11+, topic=a, partition=0 and group=b together",
        ),
        (
            "api=Produce version=3-7 error=87 message=no",
            "answers of Produce in versions 3-7 have no text for an error; leave message out",
        ),
    ],
)
def test_what_cannot_be_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(FaultError) as raised:
        SyncCluster(3).faults.add_text(text)
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    "name", [name for name in inspect.signature(Faults.add).parameters if name != "self"]
)
@pytest.mark.parametrize("wrong", [b"x", ["Metadata"], 0.5, True, -1, "500"], ids=repr)
def test_each_argument_is_checked(name: str, wrong: Any) -> None:
    """A text, which "500" is, is right or wrong by what the argument is."""
    effect = {} if name in ("delay_ms", "cut", "drop", "garbage") else {"delay_ms": 5}
    if name == "message":
        effect["error"] = 41
    arguments: dict[str, Any] = {**effect, name: wrong}
    if (wrong == "500" and name in ("topic", "group", "client_id", "message", "error")) or (
        wrong == -1 and name == "error"  # UNKNOWN_SERVER_ERROR
    ):
        SyncCluster().faults.add(**arguments)
        return
    with pytest.raises(FaultError, match=rf"\b{name.removesuffix('s')}"):
        SyncCluster().faults.add(**arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"api": "Metadata"}, "give one of delay_ms, throttle_ms, error"),
        ({"delay_ms": -1}, "delay_ms is -1; it is 1 or more"),
        ({"cut": "before", "throttle_ms": 5}, "leave throttle_ms out"),
        ({"client_id": 5, "cut": "after"}, "client_id is a text, not 5"),
        ({"versions": "14+", "group": "a", "cut": "after"}, "no request meets versions=14+ and"),
    ],
)
def test_errors_in_python_name_its_arguments(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FaultError) as raised:
        SyncCluster().faults.add(**arguments)
    assert sentence in str(raised.value)


def test_words_that_are_no_text() -> None:
    wrong: Any = 5
    with pytest.raises(FaultError, match=r"a fault is a text, .*, not 5"):
        SyncCluster().faults.add_text(wrong)


def test_an_api_that_was_left_out_has_no_faults() -> None:
    with pytest.raises(FaultError, match="there is no api 'Metadata' in this cluster"):
        SyncCluster(api_versions={"Metadata": "none"}).faults.add(api="Metadata", cut="after")


def test_a_fault_of_each_api_about_topics() -> None:
    """The apis whose requests can name topics are those that a topic may be given for."""
    faults, taken = SyncCluster().faults, []
    for each in served_apis(ReleaseNumber(4, 3)):
        with contextlib.suppress(FaultError):
            taken.append(faults.add(api=each.name, topic="a", cut="after").condition.api_key)
    assert taken == [
        0, 1, 2, 3, 8, 9, 19, 20, 21, 23, 24, 27, 28, 30, 32, 33, 34, 35, 37, 43, 44, 45, 46,
        47, 55, 61, 68, 75, 76, 83, 84, 85, 86, 87, 88, 90, 91, 92,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({"Metadata": "20+"}, "Metadata is served in versions 0-13, and not all of 20+ are among"),
        ({"Metadata": "0-99"}, "Metadata is served in versions 0-13, and not all of 0-99 are"),
        ({"CreateTopics": "0-5"}, "CreateTopics is served in versions 2-7, and not all of 0-5"),
        ({"CreateTopics": "0+"}, "CreateTopics is served in versions 2-7, and not all of 0+"),
        ({"Metdata": "0-3"}, "there is no api 'Metdata'; did you mean Metadata?"),
        ({"Metadata": "0-3", "metadata": "0-4"}, "'metadata' is there twice, in another spelling"),
        ({"StopReplica": "0-3"}, "there is no api 'StopReplica'"),
        ({"ApiVersions": "none"}, "ApiVersions cannot be left out"),
        ({"Metadata": "new"}, "'new' is not a version range"),
    ],
)
def test_versions_that_cannot_be(versions: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError) as raised:
        SyncCluster(api_versions=versions)
    assert str(raised.value).startswith(f"api_versions: {sentence}")


def test_versions_from_one_on() -> None:
    (found,) = [
        each
        for each in with_versions(served_apis(ReleaseNumber(4, 3)), {"Metadata": "9+"})
        if each.api_key == METADATA
    ]
    assert found.versions == VersionRange(9, 13)


def test_kap_serve_says_so() -> None:
    with serve("--fault", "api=Metadata eror=1") as process:
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (2, "")
    assert "a fault has no 'eror'; did you mean error?" in errors
    ended = run_kap("serve --fault", "node=2 cut=after")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "node: there is no broker 2; broker 1 is the only one" in ended.stderr
