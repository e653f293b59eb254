"""Versions of apis: against Kafka's own table, and between two peers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import (
    ApiVersionsResponse,
    DecodeError,
    UnknownMessageError,
    UnsupportedVersionError,
    codec,
    load_schemas,
)
from kafka_admin_proto.messages.api_versions_response import ApiVersion
from kafka_admin_proto.protocol import (
    Api,
    Response,
    VersionRange,
    api_versions,
    cut_versions,
    negotiate,
    negotiate_apis,
    read_request,
    read_response,
    request_header_version,
    response_header_version,
    shared_apis,
    supported,
    write_request,
    write_response,
)
from kafka_admin_proto.protocol.releases import releases
from kafka_admin_proto.schema.catalog import catalog
from tests.helpers.mistyped import mistyped
from tests.helpers.requirements import require_oracle
from tools.oracles import jars
from tools.oracles.java import run
from tools.oracles.libraries import SLF4J

ALL = VersionRange.ALL
SOURCE = Path(__file__).parents[1] / "java" / "ApiTable.java"


def java_table(release: str) -> dict[int, list[str]]:
    require_oracle()
    artifacts = ("kafka-clients", *SLF4J)
    lines = run(jars.fetch(release, artifacts), SOURCE).splitlines()
    return {int(line.split("\t")[0]): line.split("\t")[1:] for line in lines}


@pytest.mark.exhaustive
@pytest.mark.xdist_group("guide")
def test_the_table_is_kafkas() -> None:
    """The newest version, stable or not, is 4.4.0's, or 3.9.2's where 4.4.0 has no more any."""
    older, newer = java_table("3.9.2"), java_table("4.4.0")
    ours = {api.api_key: api for api in api_versions()}
    everything = {api.api_key: api for api in api_versions(unstable=True)}
    assert everything.keys() == older.keys() | newer.keys()
    for key, api in everything.items():
        name, _, stable, newest, header, answer = newer.get(key) or older[key]
        assert api.name == name
        assert api.versions.highest == int(newest)
        assert (str(ours[key].versions.highest) if key in ours else "-") == stable
        oldest = [int(table[key][1]) for table in (older, newer) if key in table]
        assert api.versions.lowest == min(oldest)
        assert str(request_header_version(key, int(newest))) == header
        assert str(response_header_version(key, int(newest))) == answer


def test_supported() -> None:
    assert str(supported("CreateTopicsRequest")) == "0-7"
    assert supported("CreateTopics") == supported("CreateTopicsRequest")
    assert str(supported("CreateTopics", dialect="kip-4")) == "0-1"
    assert str(supported("LeaderChangeMessage")) == "0-1"
    with pytest.raises(TypeError, match="name: expected str, got int"):
        supported(19)  # type: ignore[arg-type]
    with pytest.raises(UnknownMessageError, match="did you mean"):
        supported("CreateTopicks")
    for name in catalog().names():
        entry = catalog().entry(name)
        assert supported(name, unstable=True) == entry.versions
        assert (supported(name) != entry.versions) == (entry.unstable_versions != "none")


def test_a_version_meant_for_use_was_so_in_a_release() -> None:
    """Share groups had a version 0 that each release with it called unstable."""
    for api in api_versions():
        taken = {version for each in releases() for version in each.versions_of(api.api_key)}
        assert set(api.versions) == taken, api.name


ranges = st.builds(VersionRange, st.integers(-3, 9), st.integers(-3, 9))


@given(ranges, ranges)
def test_the_highest_version_that_both_have(ours: VersionRange, theirs: VersionRange) -> None:
    both = [version for version in ours if version in theirs]
    if both:
        assert negotiate(ours, theirs) == max(both) == negotiate(theirs, ours)
        return
    with pytest.raises(UnsupportedVersionError, match=f"we have {ours}, the peer has {theirs}"):
        negotiate(ours, theirs)


def rows(*versions: tuple[int, int, int]) -> list[ApiVersion]:
    return [
        ApiVersion(api_key=key, min_version=low, max_version=high) for key, low, high in versions
    ]


def test_one_version_for_each_api_that_both_know() -> None:
    theirs = ApiVersionsResponse(api_keys=rows((18, 0, 9), (19, 2, 3), (3, 50, 60), (9999, 0, 1)))
    assert negotiate_apis(theirs) == {18: supported("ApiVersions").highest, 19: 3}


def test_the_apis_that_both_have() -> None:
    theirs = {18: VersionRange(0, 9), 9999: VersionRange(0, 1), 3: VersionRange(50, 60)}
    ours = [Api(18, "ApiVersions", VersionRange(2, 4)), Api(3, "Metadata", VersionRange(0, 12))]
    assert shared_apis(theirs, ours) == ours[:1]
    assert shared_apis(theirs) == [Api(18, "ApiVersions", supported("ApiVersions"))]
    everything = {api.api_key: api.versions for api in api_versions()}
    assert shared_apis(everything) == api_versions()


def test_kip_511() -> None:
    """A broker without the version asked: it names its own, or says nothing, as before 2.4."""
    named = ApiVersionsResponse(error_code=35, api_keys=rows((18, 0, 2)))
    assert negotiate_apis(named) == {18: 2}
    assert negotiate_apis(ApiVersionsResponse(error_code=35)) == {18: 0}
    newer = ApiVersionsResponse(error_code=35, api_keys=rows((18, 7, 9)))
    with pytest.raises(UnsupportedVersionError, match="the peer has 7-9"):
        negotiate_apis(newer)


OURS = [Api(18, "ApiVersions", VersionRange(0, 4)), Api(19, "CreateTopics", VersionRange(2, 7))]


def answer_of(version: int, body: ApiVersionsResponse) -> Response:
    return read_response(write_response(body, min(version, 4), 7), 18, version)


@pytest.mark.parametrize("version", range(5))
def test_an_answer_is_cut_to_what_is_here(version: int) -> None:
    body = ApiVersionsResponse(api_keys=rows((18, 0, 9), (19, 0, 8), (3, 0, 13), (9999, 0, 0)))
    found = answer_of(version, body)
    cut_versions(found, OURS)
    again = read_response(found.encode(), 18, version).body
    assert again == ApiVersionsResponse(api_keys=rows((18, 0, 4), (19, 2, 7)))
    cut_versions(found)
    assert found.body == again


@pytest.mark.parametrize("broker_has_it", [True, False])
def test_an_answer_in_a_version_that_is_not_here_sends_clients_back(broker_has_it: bool) -> None:
    found = answer_of(9, ApiVersionsResponse(api_keys=rows((18, 0, 9), (19, 0, 8))))
    if not broker_has_it:
        fallback = ApiVersionsResponse(error_code=35, api_keys=rows((18, 0, 7)))
        found = read_response(write_response(fallback, 0, 7), 18, 9)
    cut_versions(found, OURS)
    again = read_response(found.encode(), 18, 9)
    assert (again.api_version, again.header and again.header.correlation_id) == (0, 7)
    assert again.body == ApiVersionsResponse(error_code=35, api_keys=rows((18, 0, 4)))


def test_what_cannot_be_cut() -> None:
    for size, version in ((7, 3), (2, 3), (2, 99)):
        with pytest.raises(DecodeError):
            cut_versions(read_response(bytes(size), 18, version))
    with pytest.raises(ValueError, match="CreateTopics response names no versions"):
        cut_versions(read_response(bytes(7), 19, 3))
    with pytest.raises(ValueError, match="ours lacks ApiVersions"):
        cut_versions(answer_of(3, ApiVersionsResponse()), OURS[1:])
    with pytest.raises(TypeError, match="cut_versions: response: expected"):
        cut_versions(mistyped(ApiVersionsResponse()))


NEW_REQUEST = """{
  "apiKey": 19, "type": "request", "name": "CreateTopicsRequest", "validVersions": "8-9",
  "flexibleVersions": "0+",
  "fields": [{ "name": "Wish", "type": "string", "versions": "0+" }]
}"""


def test_payloads_of_a_loaded_dialect(tmp_path: Path) -> None:
    """Its own versions by its definitions, all else by Kafka's."""
    (tmp_path / "CreateTopicsRequest.json").write_text(NEW_REQUEST)
    response = NEW_REQUEST.replace("Request", "Response").replace('"request"', '"response"')
    (tmp_path / "CreateTopicsResponse.json").write_text(response)
    load_schemas(tmp_path, dialect="newer kafka")
    request_class = codec("CreateTopicsRequest", 9, dialect="newer kafka").value_class
    payload = write_request(request_class(wish="w"), 9, 7, "me")
    request = read_request(payload, dialect="newer kafka")
    assert (request.problem, request.body) == (None, request_class(wish="w"))
    assert read_request(payload).problem == "CreateTopicsRequest has versions 0-7, not 9"
    response_class = codec("CreateTopicsResponse", 9, dialect="newer kafka").value_class
    answer = read_response(
        write_response(response_class(wish="v"), 9, 7), 19, 9, dialect="newer kafka"
    )
    assert answer.body == response_class(wish="v")
    old = bytes.fromhex("0013 0001 00000007 ffff 00000000 00000000 00")
    assert read_request(old, dialect="newer kafka").problem is None


@pytest.mark.parametrize("wrong", [[1], "ab", None, {19: (0, 7)}, {"CreateTopics": ALL}], ids=repr)
def test_versions_of_a_peer_are_ranges_by_key(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"shared_apis: theirs.*expected"):
        shared_apis(mistyped(wrong))


@pytest.mark.parametrize("wrong", [5, None, {19: ALL}], ids=repr)
def test_what_a_peer_says_is_an_answer_to_api_versions(wrong: object) -> None:
    with pytest.raises(TypeError, match="negotiate_apis: theirs: expected ApiVersionsResponse"):
        negotiate_apis(mistyped(wrong))
