"""Standard logging: the loggers that the docs name, nothing printed beside them, no secret."""

from __future__ import annotations

import ast
import logging
import re
import timeit
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_admin_proto import loggers
from kafka_admin_proto.admin import (
    AuthenticationError,
    ConfigChange,
    ConfigResource,
    NewTopic,
    RequestTimedOutError,
    ScramMechanism,
    ScramUpsertion,
    SyncAdminClient,
)
from kafka_admin_proto.admin.network.tracing import Tracer
from kafka_admin_proto.protocol.connection import SentRequest
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.state import State
from tests.helpers.kap import run_kap
from tests.helpers.processes import python
from tests.helpers.profile import draws
from tests.package.sources import modules, of_all_sources, parsed

ROOT = Path(__file__).parents[2]
_LISTENERS = {"PLAINTEXT": "PLAINTEXT", "SASL": "SASL_PLAINTEXT"}
_MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
_SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6)


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Each module of the package but those of the command line."""
    for path, source in sorted(modules().items()):
        name = path.removeprefix("kafka_admin_proto/")
        if not name.startswith("cli/"):
            yield name, parsed(source)


def dotted(node: ast.AST) -> str:
    """A name, or an attribute of one, as it is written; of anything else nothing."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def test_the_docs_list_the_loggers() -> None:
    section = (ROOT / "docs" / "testing.md").read_text("utf-8").partition("\n## Logging\n")[2]
    rows = re.findall(r"^\| `([a-z_.]+)` \|", section, re.MULTILINE)
    found = [each for each in vars(loggers).values() if isinstance(each, logging.Logger)]
    assert sorted(rows) == sorted(each.name for each in found)
    for each in found:  # a name is a room's, or that of a room within it
        assert (ROOT / each.name.replace(".", "/")).is_dir()


@of_all_sources
def test_the_library_prints_nothing_and_makes_no_logger_elsewhere() -> None:
    faults = []
    for name, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = dotted(node.func)
                if called == "print" or called.startswith(("logging.", "warnings.showwarning")):
                    faults.append(f"{name}:{node.lineno}: {called}")
            elif isinstance(node, ast.Attribute) and dotted(node) in ("sys.stderr", "sys.stdout"):
                faults.append(f"{name}:{node.lineno}: {dotted(node)}")
    assert [each for each in faults if not each.startswith("loggers.py:")] == []


def test_only_a_null_handler_is_added() -> None:
    program = (
        "import logging\nfrom kafka_admin_proto import loggers\n"
        "import kafka_admin_proto.server.cluster, kafka_admin_proto.admin.session.session\n"
        "loggers.SERVER.error('unheard')\n"
        "every = [logging.getLogger(each) for each in logging.root.manager.loggerDict]\n"
        "print([(each.name, type(one).__name__) for each in every for one in each.handlers])\n"
        "print(logging.root.handlers, {each.level for each in every})\n"
    )
    done = python("-c", program, check=True)
    assert done.stderr == ""
    assert done.stdout == "[('kafka_admin_proto', 'NullHandler')]\n[] {0}\n"


# The client.


def lines(caplog: pytest.LogCaptureFixture, logger: logging.Logger) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == logger.name]


def test_a_request_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, loggers.ADMIN.name)
    with SyncCluster() as cluster, SyncAdminClient(cluster.bootstrap_servers) as client:
        client.create_topics([NewTopic("a"), NewTopic("not valid")])
        found = lines(caplog, loggers.ADMIN)
        address = re.escape(cluster.bootstrap_servers)
    node = rf"(broker 1 \({address}\)|{address})"
    for each in found:
        assert re.fullmatch(
            rf"\w+ v\d+ to {node}, correlation id \d+: \d+\.\d ms(, errors [A-Z_, ]+)?", each
        )
    assert found[0].startswith("ApiVersions v")
    (created,) = [each for each in found if each.startswith("CreateTopics ")]
    assert created.endswith(" ms, errors INVALID_TOPIC_EXCEPTION")
    assert all(each.levelno == logging.DEBUG for each in caplog.records)


def test_a_request_without_an_answer_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, loggers.ADMIN.name)
    with (
        SyncCluster() as cluster,
        SyncAdminClient(cluster.bootstrap_servers) as client,
        cluster.faults.add(api="CreateTopics", cut="before", count=1),
    ):
        client.create_topics([NewTopic("a")])
    found = [each for each in lines(caplog, loggers.ADMIN) if each.startswith("CreateTopics ")]
    assert found[0].endswith(": no answer, the connection ended")
    assert re.search(r": \d+\.\d ms$", found[1])


def test_a_logger_that_is_off_costs_next_to_nothing() -> None:
    """One question to the logger for a request, less than a 50th of the request's own time."""
    asked: list[int] = []
    tracer = Tracer(None, 1, "h:1")
    sent = SentRequest(3, 12, 7, None)
    logger: Any = SimpleNamespace(isEnabledFor=lambda level: asked.append(level))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kafka_admin_proto.admin.network.tracing.ADMIN", logger)
        tracer(True, sent, None)
        tracer(False, sent, None)
    assert asked == [logging.DEBUG]

    def exchange() -> None:
        tracer(True, sent, None)
        tracer(False, sent, None)

    logging_s = min(timeit.repeat(exchange, number=1000, repeat=5)) / 1000
    with SyncCluster() as cluster, SyncAdminClient(cluster.bootstrap_servers) as client:
        request_s = min(timeit.repeat(client.describe_cluster, number=20, repeat=3)) / 20
    assert logging_s < request_s / 50


# The cluster.


def test_an_error_of_the_cluster_is_logged(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A disk that is full has one line; a fault of the program has its traceback too."""
    for error, traceback in (OSError(28, "No space left"), False), (KeyError("fault"), True):
        caplog.clear()
        with (
            SyncCluster() as cluster,
            SyncAdminClient(cluster.bootstrap_servers, timeout=5) as client,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(State, "append", raising(error))
            with pytest.raises(RequestTimedOutError):
                client.create_topics([NewTopic("a")], timeout=0.3)
            patch.undo()
        found = [each for each in caplog.records if each.name == loggers.SERVER.name]
        assert found[0].levelno == logging.ERROR
        assert found[0].getMessage() == f"node 1: {type(error).__name__}: {error}"
        assert (found[0].exc_info is not None) is traceback
    assert capfd.readouterr().err == ""


def test_brokers_that_end_and_start_are_lines(caplog: pytest.LogCaptureFixture) -> None:
    """A call that changes nothing says nothing."""
    caplog.set_level(logging.INFO)
    with SyncCluster(3) as cluster:
        for call, expected in {
            "stop_broker": ["broker 3 is fenced", "broker 3 is stopped"],
            "start_broker": ["broker 3 is unfenced", "broker 3 is started"],
            "fence_broker": ["broker 3 is fenced"],
            "unfence_broker": ["broker 3 is unfenced"],
            "kill_broker": ["broker 3 is killed"],
        }.items():
            for lines_of_call in (expected, []):
                caplog.clear()
                getattr(cluster, call)(3)
                assert lines(caplog, loggers.SERVER) == lines_of_call
        cluster.clock.advance(10)
        assert lines(caplog, loggers.SERVER) == ["broker 3 is fenced"]
    assert {each.levelno for each in caplog.records} == {logging.INFO}


def test_a_fault_that_fires_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, loggers.SERVER.name)
    with SyncCluster() as cluster, SyncAdminClient(cluster.bootstrap_servers) as client:
        cluster.faults.add(api="CreateTopics", error="NOT_CONTROLLER", count=2)
        client.create_topics([NewTopic("a")])
        client.describe_cluster()
    assert lines(caplog, loggers.SERVER) == [
        "node 1: CreateTopics v7 has the fault api=CreateTopics error=NOT_CONTROLLER count=2, "
        f"which has fired {often}"
        for often in ("1 time", "2 times")
    ]
    assert all(each.levelno == logging.DEBUG for each in caplog.records)


def test_kap_serve_has_the_lines_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    async def served(*arguments: Any) -> None:
        loggers.SERVER.info("not shown")
        loggers.SERVER.warning("node %d: a line", 1)

    monkeypatch.setattr("kafka_admin_proto.cli.server.serve._serve", served)
    for _ in range(2):  # the handler goes with its command
        ended = run_kap("serve")
        assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "node 1: a line\n")


def raising(error: Exception) -> Any:
    def fail(state: State, records: Any) -> None:
        if records:
            raise error

    return fail


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    configs = {"connection.failed.authentication.delay.ms": 0}
    with SyncCluster(listeners=_LISTENERS, users={"me": "the-right-one"}, configs=configs) as found:
        yield found


@settings(max_examples=draws(32), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=_SECRETS.map("S3cret".__add__), mechanism=st.sampled_from(_MECHANISMS))
def test_no_line_has_a_secret(
    cluster: SyncCluster, caplog: pytest.LogCaptureFixture, secret: str, mechanism: str
) -> None:
    """Logins that fail and succeed, passwords set, sensitive configs, and the same at a start."""
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    with SyncAdminClient(cluster.bootstrap_servers) as client:
        if mechanism == "PLAIN":
            broker = ConfigResource("broker", "1")
            client.alter_configs([ConfigChange(resource=broker, set={"ssl.key.password": secret})])
            client.describe_configs([broker])
        else:
            client.alter_users([ScramUpsertion("you", secret, ScramMechanism(mechanism))])
        client.create_topics([NewTopic(secret, configs={"password": secret})])
    assert "AlterConfigs v" in caplog.text or "AlterUserScramCredentials v" in caplog.text
    for user in "me", "you":
        try:
            with SyncAdminClient(
                cluster.addresses("SASL"),
                security_protocol="SASL_PLAINTEXT",
                sasl_mechanism=mechanism,
                sasl_username=user,
                sasl_password=secret,
            ) as client:
                client.describe_cluster()
        except AuthenticationError:
            assert user == "me" or mechanism == "PLAIN"
    assert "SaslAuthenticate v" in caplog.text
    configs = {"delegation.token.secret.key": secret}
    Cluster(listeners=_LISTENERS, users={"me": secret}, configs=configs)
    assert secret not in caplog.text
    assert not any(secret in repr(each.args) for each in caplog.records)
