"""The marker ``kafka``: settings for a test's cluster, refused where they would have no effect."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from kafka_admin_proto.server import Cluster
from kafka_admin_proto.testing import pytest_plugin
from tests.helpers.profile import sample

pytest_plugins = ["pytester"]
_OPTIONS = ("-p", "no:cacheprovider", "--strict-markers", "-W", "error")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def of(source: str, *options: str, conftest: str = "") -> pytest.RunResult:
        pytester.makepyfile(f"import pytest\n{inspect.cleandoc(source)}\n")
        if conftest:
            pytester.makeconftest(f"import pytest\n{inspect.cleandoc(conftest)}\n")
        return pytester.runpytest_inprocess(*_OPTIONS, *options, plugins=[pytest_plugin])

    return of


def test_settings_of_a_test_its_class_and_its_module(run: Any) -> None:
    result = run(
        """
        pytestmark = pytest.mark.kafka(brokers=3)

        def shape(cluster):
            topics = cluster.state.cluster.topics.values()
            return len(cluster.broker_states), cluster.state.release, {each.name for each in topics}

        class TestMine:
            pytestmark = pytest.mark.kafka(topics={"orders": 6})

            @pytest.mark.kafka(release="3.9", brokers=3)
            def test_one(self, kafka_cluster):
                assert shape(kafka_cluster) == (3, (3, 9), {"orders"})

            def test_two(self, kafka_cluster, kafka_session_cluster):
                assert shape(kafka_cluster) == (3, (4, 4), {"orders"})
                assert shape(kafka_session_cluster) == (2, (4, 4), set())

        def test_three(kafka_cluster):
            assert shape(kafka_cluster) == (3, (4, 4), set())

        def test_without():
            pass

        @pytest.mark.kafka
        def test_label():
            pass
        """,
        conftest="""
        @pytest.fixture(scope="session")
        def kafka_cluster_settings():
            return {"brokers": 2}
        """,
    )
    result.assert_outcomes(passed=5)


def test_mappings_are_merged_key_by_key(run: Any) -> None:
    """The marker's value of a key goes before the fixture's; all other keys are there."""
    result = run(
        """
        pytestmark = pytest.mark.kafka(
            configs={"num.partitions": 3}, topics={"of-module": 1, "of-both": 2}
        )

        @pytest.mark.kafka(
            listeners={"MORE": "PLAINTEXT"},
            configs={"min.insync.replicas": 1},
            topics={"of-test": -1, "of-both": 2},
        )
        def test_it(kafka_cluster, kafka_session_cluster):
            topics = kafka_cluster.state.cluster.topics.values()
            assert {each.name: len(each.partitions) for each in topics} == {
                "base": 1, "of-module": 1, "of-both": 2, "of-test": 3
            }
            configs = kafka_cluster.state.static[1]
            assert configs["auto.create.topics.enable"] == "false"
            assert configs["num.partitions"] == "3"
            assert configs["min.insync.replicas"] == "1"
            assert kafka_cluster.listeners == ["PLAINTEXT", "MORE"]
            assert kafka_session_cluster.state.static[1]["num.partitions"] == "7"
        """,
        conftest="""
        @pytest.fixture(scope="session")
        def kafka_cluster_settings():
            return {
                "listeners": {"PLAINTEXT": "PLAINTEXT"},
                "configs": {"auto.create.topics.enable": False, "num.partitions": 7},
                "topics": {"base": 1, "of-both": 9},
            }
        """,
    )
    result.assert_outcomes(passed=1)


REFUSED: dict[str, tuple[str, str]] = {
    "unknown setting": (
        "@pytest.mark.kafka(broker=3)\ndef test_it(kafka_cluster): ...",
        r"the marker kafka on \S+::test_it has no setting broker; did you mean brokers\?",
    ),
    "nothing like it": (
        "@pytest.mark.kafka(colour=3)\ndef test_it(kafka_cluster): ...",
        r"has no setting colour; there are brokers, release, host, ",
    ),
    "wrong type": (
        "@pytest.mark.kafka(brokers='3')\ndef test_it(kafka_cluster): ...",
        r"brokers is '3'; expected how many nodes[^@]*; the marker kafka gave brokers",
    ),
    "no name": (
        "@pytest.mark.kafka(3)\ndef test_it(kafka_cluster): ...",
        r"has arguments without a name; name each, as in pytest\.mark\.kafka\(brokers=3\)",
    ),
    "conflict": (
        "pytestmark = pytest.mark.kafka(brokers=3)\n"
        "@pytest.mark.kafka(brokers=2)\ndef test_it(kafka_cluster): ...",
        r"on \S+::test_it and on \S+\.py give brokers two values; leave one out",
    ),
    "conflict in a mapping": (
        "pytestmark = pytest.mark.kafka(topics={'orders': 3, 'same': 1})\n"
        "@pytest.mark.kafka(topics={'same': 1, 'orders': 2})\ndef test_it(kafka_cluster): ...",
        r"on \S+::test_it and on \S+\.py give topics\['orders'\] two values; leave one out",
    ),
    "attribute of a cluster": (
        "@pytest.mark.kafka(faults=['api=Metadata'])\ndef test_it(kafka_cluster): ...",
        r"has no setting faults; the running cluster has it: use kafka_cluster\.faults in the test",
    ),
    "asked for by name": (
        "@pytest.mark.kafka(brokers=3)\n"
        "def test_it(request): request.getfixturevalue('kafka_cluster')",
        r"usefixtures \(that request\.getfixturevalue will ask for it is not seen\)",
    ),
    "fixture that returns nothing": (
        "@pytest.fixture\ndef kafka_cluster_settings(): {'brokers': 3}\n"
        "def test_it(kafka_cluster): ...",
        r"the fixture kafka_cluster_settings returned None; expected a dict of arguments of",
    ),
    "fixture that returns a list": (
        "@pytest.fixture\ndef kafka_cluster_settings(): return [3]\n"
        "def test_it(kafka_cluster): ...",
        r"the fixture kafka_cluster_settings returned a list; expected a dict of arguments",
    ),
    "fixture with an unknown setting": (
        "@pytest.fixture\ndef kafka_cluster_settings(): return {'broker': 7}\n"
        "def test_it(kafka_cluster): ...",
        r"what the fixture kafka_cluster_settings returned has no setting broker; did you mean b",
    ),
    "fixture with an attribute": (
        "@pytest.fixture(scope='session')\ndef kafka_cluster_settings(): return {'clock': 7}\n"
        "def test_it(kafka_session_cluster): ...",
        r"returned has no setting clock; the running cluster has it: use kafka_cluster\.clock",
    ),
    "another fixture": (
        "@pytest.fixture\ndef kafka_cluster(tmp_path): return 1\n"
        "@pytest.mark.kafka(brokers=3)\ndef test_it(kafka_cluster): ...",
        r"has no effect on \S+::test_it: its fixture kafka_cluster is that of the module test_\w+, "
        r"which does not read markers; override kafka_cluster_settings instead, let",
    ),
    "another fixture over another": (
        "@pytest.fixture\ndef kafka_cluster(): return 1\n"
        "class TestIt:\n    @pytest.fixture\n    def kafka_cluster(self, kafka_cluster): return 2\n"
        "    @pytest.mark.kafka(brokers=3)\n    def test_it(self, kafka_cluster): ...",
        r"has no effect on \S+::TestIt::test_it: its fixture kafka_cluster is that of the module",
    ),
    "another fixture of a marked module": (
        "pytestmark = pytest.mark.kafka(brokers=3)\n@pytest.fixture\ndef kafka_cluster(): ...\n"
        "def test_it(kafka_cluster): ...",
        r"has no effect on \S+::test_it: its fixture kafka_cluster is that of the module",
    ),
    "unused": (
        "@pytest.mark.kafka(brokers=3)\ndef test_it(): ...",
        r"has no effect on \S+::test_it, which does not use the fixture kafka_cluster; name",
    ),
    "of the run's cluster": (
        "@pytest.mark.kafka(brokers=3)\ndef test_it(kafka_session_cluster): ...",
        r"has no effect on \S+::test_it, which does not use the fixture kafka_cluster; name",
    ),
    "unused module": (
        "pytestmark = pytest.mark.kafka(brokers=3)\ndef test_it(): ...",
        r"has no effect on \S+\.py, none of whose tests uses the fixture kafka_cluster; name",
    ),
    "unused class": (
        "@pytest.mark.kafka(brokers=3)\nclass TestIt:\n    def test_it(self): ...\n"
        "def test_other(kafka_cluster): ...",
        r"has no effect on \S+::TestIt, none of whose tests uses the fixture kafka_cluster; name",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_marker_without_effect_is_a_sentence(run: Any, case: str) -> None:
    source, said = REFUSED[case]
    result = run(source)
    assert result.parseoutcomes()["errors"] == 1
    text = " ".join(result.stdout.str().split())
    assert re.search(said, text), text
    if case != "wrong type":
        assert "During handling" not in text
        assert "Traceback" not in text
        assert "markers.py" not in text


def test_a_fixture_that_reads_markers_may_override_the_plugins(run: Any) -> None:
    result = run(
        """
        pytestmark = pytest.mark.kafka(brokers=3)

        class TestOver:
            @pytest.fixture
            def kafka_cluster(self, kafka_cluster):
                yield len(kafka_cluster.broker_states)

            def test_it(self, kafka_cluster):
                assert kafka_cluster == 3

        class TestOwn:
            @pytest.fixture
            def kafka_cluster(self, request):
                return request.node.get_closest_marker("kafka").kwargs

            def test_it(self, kafka_cluster):
                assert kafka_cluster == {"brokers": 3}
        """
    )
    result.assert_outcomes(passed=2)


@pytest.mark.exhaustive
def test_every_setting_can_be_given(run: Any) -> None:
    """An unknown one is refused by the arguments of ``Cluster`` themselves, not by a list."""
    for name in sample([*inspect.signature(Cluster).parameters], 3):
        result = run(f"@pytest.mark.kafka({name}=object())\ndef test_it(kafka_cluster): ...")
        assert "has no setting" not in result.stdout.str(), name
        assert result.parseoutcomes() == {"errors": 1}, name


def test_a_part_of_a_file_is_not_all_of_it(run: Any, pytester: pytest.Pytester) -> None:
    source = (
        "pytestmark = pytest.mark.kafka(brokers=2)\ndef test_it(): ...\n"
        "def test_other(kafka_cluster): ...\n"
    )
    run(source, "-k", "test_it").assert_outcomes(passed=1, deselected=1)
    (file,) = pytester.path.glob("test_*.py")
    arguments = (*_OPTIONS, f"{file}::test_it")
    result = pytester.runpytest_inprocess(*arguments, plugins=[pytest_plugin])
    result.assert_outcomes(passed=1)


def test_the_marker_is_listed(run: Any) -> None:
    assert "@pytest.mark.kafka(**settings): arguments of" in run("", "--markers").stdout.str()


def test_the_lines_of_the_fixtures(run: Any) -> None:
    result = run(
        "def test_it(kafka_cluster): assert False",
        "--log-level=INFO",
        "-o",
        "log_format=%(message)s",
    )
    result.stdout.fnmatch_lines([" a cluster listens at 127.0.0.1:*".strip()])
