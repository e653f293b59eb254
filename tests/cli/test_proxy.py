"""``kap proxy`` as a process: policies, filters, TLS, and options that cannot work."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from kafka_admin_proto.admin import AuthenticationError, NewTopic, SyncAdminClient
from kafka_admin_proto.capture.files.pcap_writer import PCAP_HEADER
from kafka_admin_proto.capture.tcp.segments import FIN, SYN
from kafka_admin_proto.control_socket import send
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.testing import certificates
from tests.helpers.kap import ended, run_kap

_RULES = """
from kafka_admin_proto.messages import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_admin_proto.proxy import Call
from kafka_admin_proto.server import PolicyViolation

class NoTests:
    def configure(self, configs): pass
    def close(self): print("closed")
    def validate(self, metadata):
        if metadata.topic.startswith("test-"):
            raise PolicyViolation("tests have a cluster of their own")

class NoDeletes:
    def on_request(self, request: DeleteTopicsRequest, call: Call):
        row = DeleteTopicsResponse.DeletableTopicResult
        rows = [row(name="kept", topic_id=each.topic_id, error_code=73) for each in request.topics]
        return DeleteTopicsResponse(responses=rows)

class Breaks:
    def __init__(self):
        raise KeyError("why")
"""

#: What the last process has printed after its first line, and its exit code.
_LEFT: list[object] = []


@contextmanager
def _running(folder: Path, *options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "kafka_admin_proto", "proxy", *options]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            _LEFT[:] = [*process.communicate(timeout=30), process.returncode]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "rules.py").write_text(_RULES)
    return tmp_path


def test_a_policy_and_a_filter(rules: Path) -> None:
    with SyncCluster() as cluster:
        options = ("--upstream", cluster.bootstrap_servers, "--policy", "rules:NoTests")
        with _running(rules, *options, "--filter", "rules:NoDeletes") as address:
            with SyncAdminClient(address) as client:
                made = client.create_topics([NewTopic("kept", 1, 1), NewTopic("test-1", 1, 1)])
                (deleted,) = client.delete_topics(["kept"])
            assert [each.message for each in made] == [None, "tests have a cluster of their own"]
            assert str(deleted.error) == "TOPIC_DELETION_DISABLED"
        assert _LEFT == ["closed\n", "", 0]
        with SyncAdminClient(cluster.bootstrap_servers) as client:
            assert [each.name for each in client.list_topics()] == ["kept"]


def test_a_log_and_a_capture(tmp_path: Path) -> None:
    with SyncCluster(topics={"orders": 1}) as cluster:
        options = ("--upstream", cluster.bootstrap_servers, "--log", "--record", "seen.pcap")
        with _running(tmp_path, *options) as address, SyncAdminClient(address) as client:
            client.create_topics([NewTopic("orders", 1, 1)])
    header, *rows = str(_LEFT[0]).splitlines()
    assert header.split()[:3] == ["#", "time", "connection"]
    result = ended(run_kap("decode", str(tmp_path / "seen.pcap"), "--output", "jsonl"))
    read = [json.loads(line) for line in result.output.splitlines()]
    assert len(read) == len(rows)
    (answer,) = [each for each in read if each["api"] == "CreateTopics" and each["latency_us"]]
    assert answer["error_codes"] == ["TOPIC_ALREADY_EXISTS"]
    assert any("CreateTopics" in row and "TOPIC_ALREADY_EXISTS" in row for row in rows)
    assert _LEFT[1:] == ["", 0]


def test_a_capture_has_the_ends_of_connections_that_the_proxy_ends(tmp_path: Path) -> None:
    with SyncCluster(topics={"orders": 1}) as cluster, ExitStack() as stays:
        options = ("--upstream", cluster.bootstrap_servers, "--record", "seen.pcap")
        with _running(tmp_path, *options) as address:
            client = stays.enter_context(SyncAdminClient(address))
            client.list_topics()
    assert _LEFT == ["", "", 0]
    written = (tmp_path / "seen.pcap").read_bytes()
    flags, at = [], len(PCAP_HEADER)
    while at < len(written):
        flags.append(written[at + 16 + 20 + 13])  # behind the headers of packet and IPv4
        at += 16 + int.from_bytes(written[at + 8 : at + 12], "little")
    assert sum(each & SYN for each in flags) == sum(2 * (each & FIN) for each in flags) > 0


@pytest.mark.parametrize(
    "choice",
    [
        ("--client-id", "shop", "--errors-only"),
        ("--api", "CreateTopics", "--topic", "orders", "--slower-than", "0"),
    ],
    ids=" ".join,
)
def test_a_log_has_what_kap_decode_chooses(tmp_path: Path, choice: tuple[str, ...]) -> None:
    """With their numbers, as the same options choose of the capture."""
    with SyncCluster(topics={"orders": 1}) as cluster:
        options = ("--upstream", cluster.bootstrap_servers, "--log", *choice)
        with _running(tmp_path, *options, "--record", "seen.pcap") as address:
            for name in ("shop", "bank"):
                with SyncAdminClient(address, client_id=name) as client:
                    client.create_topics([NewTopic("orders", 1, 1)])
                    client.list_groups()
    rows = str(_LEFT[0]).splitlines()[1:]
    result = ended(run_kap("decode", str(tmp_path / "seen.pcap"), *choice))
    expected = result.output.splitlines()[1:]
    assert rows
    assert [each.split()[:9] for each in rows] == [each.split()[:9] for each in expected]


def test_read_only(tmp_path: Path) -> None:
    with SyncCluster() as cluster:
        options = ("--upstream", cluster.bootstrap_servers, "--read-only")
        with _running(tmp_path, *options) as address, SyncAdminClient(address) as client:
            (made,) = client.create_topics([NewTopic("orders", 1, 1)])
    assert made.message == "the proxy is read-only"


def test_a_tenant_and_a_policy(rules: Path) -> None:
    """The policy is asked about the name that the cluster would have."""
    with SyncCluster() as cluster:
        options = ("--upstream", cluster.bootstrap_servers, "--policy", "rules:NoTests")
        with (
            _running(rules, *options, "--tenant", "test-") as address,
            SyncAdminClient(address) as client,
        ):
            (refused,) = client.create_topics([NewTopic("a", 1, 1)])
        with (
            _running(rules, *options, "--tenant", "team-") as address,
            SyncAdminClient(address) as client,
        ):
            (made,) = client.create_topics([NewTopic("test-a", 1, 1)])
            assert [each.name for each in client.list_topics()] == ["test-a"]
        assert (refused.message, made.error) == ("tests have a cluster of their own", None)
        with SyncAdminClient(cluster.bootstrap_servers) as client:
            assert [each.name for each in client.list_topics()] == ["team-test-a"]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_users_whose_passwords_nothing_shows(tmp_path: Path, mechanism: str) -> None:
    """Neither theirs nor the proxy's is in the log, the capture, the metrics or an error."""
    (tmp_path / "users").write_text("alice:al-secret\n")
    (tmp_path / "own").write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka."
        'common.security.plain.PlainLoginModule required username="proxy" password="own-secret";\n'
    )
    listeners = {"BROKER": "SASL_PLAINTEXT"}
    with SyncCluster(listeners=listeners, users={"proxy": "own-secret"}) as cluster:
        options = ["--upstream", cluster.bootstrap_servers, "--upstream-config", "own"]
        options += ["--users", "users", "--log", "--record", "seen.pcap"]
        options += ["--metrics", "127.0.0.1:0", "--tenant", "team-"]
        with _running(tmp_path, *options) as address:
            for password in ("al-secret", "no-secret"):
                with (
                    suppress(AuthenticationError),
                    SyncAdminClient(
                        address,
                        sasl_mechanism=mechanism,
                        sasl_username="alice",
                        sasl_password=password,
                    ) as client,
                ):
                    client.create_topics([NewTopic("orders", 1, 1)])
                    assert password == "al-secret"
    stdout, stderr, code = _LEFT
    seen = (tmp_path / "seen.pcap").read_bytes()
    assert "CreateTopics" in str(stdout)
    assert "SaslError" in str(stderr)
    for text in (str(stdout).encode(), str(stderr).encode(), seen):
        assert b"secret" not in text
    assert (b"orders" in seen, code) == (True, 0)


def test_tls_on_both_sides(tmp_path: Path) -> None:
    made = certificates(tmp_path)
    keystore = {"ssl.keystore.location": str(made.server.bundle)}
    trust = {"ssl.truststore.location": str(made.authority.file)}
    for name, properties in (("listener", keystore), ("upstream", trust)):
        text = "".join(f"{key}={value}\n" for key, value in properties.items())
        (tmp_path / f"{name}.properties").write_text(text)
    with SyncCluster(listeners={"TLS": "SSL"}, configs=keystore) as cluster:
        options = ["--upstream", cluster.bootstrap_servers]
        options += ["--listener-config", "listener.properties"]
        options += ["--upstream-config", "upstream.properties"]
        with (
            _running(tmp_path, *options) as address,
            SyncAdminClient(address, ssl_context=made.client_context()) as client,
        ):
            assert client.describe_cluster().controller == 1


def test_metrics_are_served_while_it_runs(tmp_path: Path) -> None:
    with SyncCluster(1) as cluster:
        options = ("--upstream", cluster.bootstrap_servers, "--metrics", "127.0.0.1:0")
        with _running(tmp_path, *options) as address, SyncAdminClient(address) as client:
            client.list_topics()
    _, stderr, code = _LEFT
    assert re.search(r"^metrics: http://127\.0\.0\.1:\d+/metrics$", str(stderr), re.MULTILINE)
    assert code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--upstream", ","], "no address to connect to"),
        (["--upstream", "kafka"], "write host:port"),
        (["--listen", "9092"], "'9092' is not host:port"),
        (["--policy", "rules"], "is not of the form module:Class"),
        (["--policy", "os:path"], "is no class"),
        (["--filter", "nowhere:A"], "no filter 'nowhere:A': ModuleNotFoundError"),
        (["--filter", "rules:Breaks"], "the constructor of rules:Breaks failed: KeyError: 'why'"),
        (["--filter", "builtins:int"], "int is no filter: it has neither"),
        (["--deny-version", "Produce"], "takes API<N, as Produce<3, not 'Produce'"),
        (["--deny-version", "Produce<99"], "Produce has no version 99; it has 0-13"),
        (["--deny-version", "Produce<0"], "Produce has no version before 0"),
        (["--deny-version", "Product<1"], "there is no api 'Product'; did you mean Produce?"),
        (["--upstream-config", "nowhere"], "cannot read nowhere"),
        (["--upstream-config", "login"], "sasl.mechanism would have no effect"),
        (["--listener-config", "empty"], "needs a certificate"),
        (
            ["--listener-config", "trust"],
            "ssl.truststore.location would have no effect: clients are",
        ),
        (["--listener-config", "named"], "would have no effect: clients' names are not checked"),
        (["--tenant", "team"], "the tenant's prefix is 'team'; expected at most 100 of a-z"),
        (["--users", "nowhere"], "the users cannot be read: nowhere: No such file"),
        (["--users", "empty"], "empty has no users"),
        (["--users", "good", "--upstream-config", "login"], "needs a user and a password"),
        (
            ["--users", "good", "--upstream-config", "other"],
            "other: client.id, bootstrap.servers would have no effect: the proxy takes security.p",
        ),
        (["--users", "good", "--fault", "api=SaslHandshake cut=after"], "answers SaslHandshake it"),
        (["--advertised-host", "a:9"], "advertised_host is 'a:9'; expected a name or an IP"),
        (["--client-id", "shop"], "--client-id does not go with a proxy without --log"),
        (["--log", "--api", "Metdata"], "no api or message 'Metdata'; did you mean Metadata?"),
        (["--metrics", "9400"], "--metrics: '9400' is not host:port"),
        (["--record", "/dev/full"], "--record: cannot write the file: No space left on device"),
        (["--record", "nowhere/seen.pcap"], "--record: cannot write nowhere/seen.pcap: No such"),
    ],
)
def test_options_that_cannot_work(
    rules: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    (rules / "login").write_text("sasl.mechanism=PLAIN\n")
    (rules / "other").write_text("client.id=a\nbootstrap.servers=b:1\nsecurity.protocol=SSL\n")
    (rules / "empty").write_text("")
    (rules / "good").write_text("a:b\n")
    (rules / "trust").write_text("ssl.truststore.location=ca.pem\n")
    (rules / "named").write_text("ssl.endpoint.identification.algorithm=https\n")
    monkeypatch.chdir(rules)
    monkeypatch.syspath_prepend(rules)
    given = options if "--upstream" in options else ["--upstream", "127.0.0.1:1", *options]
    result = run_kap("proxy", *given)
    sys.modules.pop("rules", None)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_faults_and_commands(tmp_path: Path) -> None:
    control = tmp_path / "proxy.sock"
    fault = "api=CreateTopics error=POLICY_VIOLATION count=1"
    with SyncCluster() as cluster:
        options = ("--upstream", cluster.bootstrap_servers, "--control", str(control))
        with (
            _running(tmp_path, *options, "--fault", fault) as address,
            SyncAdminClient(address) as client,
        ):
            (refused,) = client.create_topics([NewTopic("a", 1, 1)])
            assert refused.error == "POLICY_VIOLATION"
            assert send(control, "fault api=ListGroups cut=before") == "ok"
            assert send(control, "faults") == (
                f"{fault}: fired 1 time; api=ListGroups cut=before: fired 0 times"
            )
            assert send(control, "heal") == "ok"
            assert send(control, "stop 1").startswith("error: 'stop' is no command; there are fa")
            assert client.list_groups().groups == []
    assert ["", f"fault {fault}: fired 1 time\n", 0] == _LEFT


@pytest.mark.parametrize(
    "wrong",
    [
        ("--deny-version", "Metdata<4"),
        ("--upstream", "nowhere"),
        ("--fault", "api=Metdata cut=after"),
    ],
)
def test_a_wrong_option_empties_no_file(tmp_path: Path, wrong: tuple[str, str]) -> None:
    kept = tmp_path / "seen.pcap"
    kept.write_bytes(b"before")
    given = ["proxy", "--upstream", "127.0.0.1:9", *wrong, "--record", str(kept)]
    assert run_kap(*given).exit_code == 2
    assert kept.read_bytes() == b"before"
