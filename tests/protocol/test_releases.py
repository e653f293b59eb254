"""Which versions each release takes: against Kafka's own ``ApiKeys`` of each, and KIP-896."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto.errors import UnknownReleaseError
from kafka_admin_proto.protocol import api_versions
from kafka_admin_proto.protocol.releases import BROKER_APIS, release, releases, removed_versions
from kafka_admin_proto.render.meanings import api_name
from kafka_admin_proto.schema.catalog import catalog
from tests.helpers.requirements import require_oracle
from tools.definitions.releases import RELEASES, read_release
from tools.oracles import jars
from tools.oracles.java import run
from tools.oracles.libraries import SLF4J

SOURCE = Path(__file__).parents[1] / "java" / "ReleaseApis.java"
#: Apis of the right ClusterAction that tools send as well.
_OF_TOOLS = {"DescribeQuorum", "UpdateFeatures"}
#: Apis whose handler in the controller asks for ClusterAction although their constant does not.
_BY_HANDLER = {
    "AssignReplicasToDirs", "ControllerRegistration", "FetchSnapshot", "UpdateRaftVoter",
}  # fmt: skip


@pytest.mark.exhaustive
def test_versions_are_those_of_java() -> None:
    require_oracle()
    found = jars.fetch_of_each([each.patch for each in releases()], "kafka-clients")
    output = run(jars.fetch("4.4.0", SLF4J), SOURCE, *found)
    java: dict[str, dict[int, str]] = {}
    only_brokers = set()
    for line in output.splitlines():
        key, *rest = line.split("\t")
        if not rest:
            java[key] = {}
            continue
        oldest, newest, cluster_action, _ = rest
        java[list(java)[-1]][int(key)] = oldest if oldest == newest else f"{oldest}-{newest}"
        if cluster_action == "true":
            only_brokers.add(api_name(int(key)))
    assert java == {f"kafka-clients-{each.patch}.jar": each.versions for each in releases()}
    assert len(java) == len(RELEASES)
    assert only_brokers - BROKER_APIS == _OF_TOOLS
    assert BROKER_APIS - only_brokers == _BY_HANDLER


@pytest.mark.exhaustive
def test_the_file_is_fresh() -> None:
    require_oracle()
    assert tuple(each.patch for each in releases()) == RELEASES
    for patch in ("2.8.2", "3.9.2", RELEASES[-1]):
        assert release(patch) == read_release(patch)


def test_what_4_0_removed() -> None:
    """The table of KIP-896, by its own words."""
    gone = {api_name(key): sorted(versions) for key, versions in removed_versions("4.0").items()}
    assert gone["Produce"] == [0, 1, 2]
    assert gone["Fetch"] == [0, 1, 2, 3]
    assert gone["CreateTopics"] == gone["OffsetCommit"] == [0, 1]
    assert gone["ListOffsets"] == gone["DescribeConfigs"] == [0]
    assert "Metadata" not in gone
    assert "ApiVersions" not in gone
    removed = removed_versions("4.0")
    assert removed[1][3].since == "4.0"
    assert removed[1][3].least == 4
    assert {api_name(key) for key in removed if removed[key][0].least is None} == {
        "LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown",
    }  # fmt: skip
    # What 3.9 says is deprecated is what went.
    old = release("3.9")
    named = {api_name(key): str(old.deprecated_of(key)) for key in old.deprecated}
    assert (
        named.items()
        <= {
            name: f"0-{versions[-1]}" if versions[-1] else "0" for name, versions in gone.items()
        }.items()
    )


def test_nothing_was_removed_before() -> None:
    for each in releases():
        if int(each.patch.split(".")[0]) < 4:
            assert removed_versions(each.name) == {}


@pytest.mark.parametrize("name", ["2.7", "4", "9.9", "", "4.0.1x", "4.00"])
def test_unknown_releases(name: str) -> None:
    with pytest.raises(UnknownReleaseError, match=r"known are 2\.8 to 4\.\d"):
        release(name)


def test_all_apis_are_known() -> None:
    known = {api.api_key: api.versions for api in api_versions()}
    for each in releases():
        for key in each.versions:
            assert known[key].covers(each.versions_of(key)), (each.patch, key)
    assert {f"{name}Request" for name in BROKER_APIS} <= set(catalog().names())
