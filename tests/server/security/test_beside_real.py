"""A real cluster with the same listeners, users and certificates: the same answers.

Which alert ends a handshake, and whether a client reads an answer that the connection's end follows
at once, is left out of what clients report (``clients.py``).
"""

from __future__ import annotations

import contextlib
import gc
import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.protocol.tls import TlsSettings
from kafka_admin_proto.proxy import SyncProxy
from kafka_admin_proto.proxy.no_tokens import NoTokens
from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.controllers import wait_until
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tests.server.clients.normalised import normalised
from tests.server.clients.pair import Side
from tests.server.security.clients import CLIENTS, PATIENT_SECONDS, Attempt, equal, report
from tests.server.security.exchanges import (
    AGAIN,
    DELEGATION_TOKEN,
    EXCHANGES,
    Named,
    drawn_exchanges,
    play,
)
from tests.server.security.secured import (
    LISTENERS,
    MECHANISMS,
    PASSWORDS,
    Certificates,
    peer,
    secured_cluster,
)
from tests.server.security.test_tls import NO_TLS, all_bytes, asked, principal, tls
from tests.server.security.test_tokens import token, tokens
from tests.server.security.token_story import KEY, TokenStory
from tools.clusters import Cluster, Listener, kraft, sasl_properties

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.xdist_group("live security"),
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """kafka-python leaves the sockets of TLS that was refused to the collector: here, not later."""
    yield
    gc.collect()


#: Of certificates, in openssl's notation.
SUBJECTS = (
    "/CN=plain",
    "/C=NO/ST=Oslo/L=Oslo/O=Example, Inc./OU=a+OU=b/CN=me",
    "/DC=no/DC=example/UID=u/CN= a #b=c ",
    '/CN=\u00e6<>;"\\\\q/emailAddress=a@b.no/serialNumber=7/street=s/title=t',
)


class Both(msgspec.Struct):
    """The real cluster and ours, and the certificates of both."""

    real: Cluster
    ours: SyncCluster
    certificates: Certificates

    def ask(self, listener: str, asked: Callable[[str], object]) -> tuple[object, object]:
        """What both say on a listener."""
        return asked(self.real.address(listener)), asked(self.ours.addresses(listener))


@pytest.fixture(scope="module")
def both(certificates: Certificates, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    require_oracle()
    properties = certificates.properties()
    sasl = sasl_properties(MECHANISMS, PASSWORDS)
    for name in ("SASL", "SASL_TLS", "SESSIONS"):
        properties[name] = {**sasl, **properties.get(name, {})}
    properties["SCRAM_ONLY"] = sasl_properties(["SCRAM-SHA-512"])
    properties["TOKENS"] = sasl_properties(["OAUTHBEARER"])
    listeners = [
        Listener(name, protocol, properties.get(name, {}))
        for name, protocol in LISTENERS.items()
        if name != "PLAINTEXT"
    ]
    scram = [
        f"{mechanism}=[name={name},password={password}]"
        for mechanism in MECHANISMS[1:]
        for name, password in PASSWORDS.items()
    ]
    folder = tmp_path_factory.mktemp("secured")
    with (
        kraft(folder, listeners=listeners, scram=scram, properties=KEY) as real,
        secured_cluster(certificates, configs=KEY) as ours,
    ):
        yield Both(real, ours, certificates)


def test_tokens(both: Both) -> None:
    """Tokens without a signature, and messages that are none: the same answers, all of them.

    At a token whose header has no algorithm Kafka closes, for an error of its own.
    """
    now_s = time.time()
    messages = [
        f"n,,\x01auth=Bearer {text}\x01\x01"
        for text, _ in tokens(int(now_s), step_s=600)
        if text[:4] != "e30."
    ]
    good = token({"sub": "alice", "exp": now_s + 600})
    messages += [
        f"n,a=alice,\x01auth=bearer  {good}\x01traceId=a=b c\x01\x01",
        f"n,a=bob,\x01auth=Bearer {good}\x01\x01",
        f"n,,\x01auth=Basic {good}\x01\x01",
        f"n,,\x01auth=Bearer {good}\x01",
        f"y,,\x01auth=Bearer {good}\x01\x01",
        f"n,,\x01trace-id=1\x01auth=Bearer {good}\x01\x01",
        "",
        "\x01",
    ]

    def answers(address: str) -> list[tuple[str, int, bytes, str | None, bool] | str]:
        found: list[tuple[str, int, bytes, str | None, bool] | str] = []
        for message in messages:
            with peer(address) as client:
                assert client.handshake("OAUTHBEARER").error_code == 0
                for each in (message.encode(), b"\x01"):
                    answer = client.authenticate(each)
                    if answer is None:
                        found.append(message)
                        break
                    words = answer.error_message
                    ends = answer.session_lifetime_ms > 0  # with the token
                    found.append((message, answer.error_code, answer.auth_bytes, words, ends))
                    if answer.error_code or not answer.auth_bytes:
                        break
        return found

    real, ours = both.ask("TOKENS", answers)
    assert ours == real
    assert isinstance(real, list)
    assert any(each[-1] is True for each in real)


def test_delegation_tokens(both: Both) -> None:
    real = TokenStory(both.real.address).play()
    assert TokenStory(both.ours.addresses).play() == real


def test_a_token_of_options_lets_in(both: Both) -> None:
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    properties = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{module} unsecuredLoginStringClaim_sub="alice";',
    }

    def brokers(address: str) -> int:
        with SyncAdminClient(address, command_config=properties) as admin:
            return len(admin.describe_cluster().nodes)

    assert both.ask("TOKENS", brokers) == (1, 1)


def ways_in(made: Certificates) -> list[Attempt]:
    """Each protocol with each mechanism."""
    trusts = made.authority
    return [
        Attempt("PLAINTEXT", "PLAINTEXT"),
        Attempt("TLS", "SSL", trusts=trusts),
        Attempt("MUTUAL", "SSL", trusts=trusts, shows=made.client),
        Attempt("WANTING", "SSL", trusts=trusts),
        *(Attempt("SASL", "SASL_PLAINTEXT", each) for each in MECHANISMS),
        *(Attempt("SASL_TLS", "SASL_SSL", each, trusts=trusts) for each in MECHANISMS),
    ]


def refused(made: Certificates) -> list[Attempt]:
    """Attempts that fail, each otherwise."""
    trusts = made.authority
    return [
        *(Attempt("SASL", "SASL_PLAINTEXT", each, password="wrong") for each in MECHANISMS),
        *(
            Attempt("SASL_TLS", "SASL_SSL", each, user="mallory", trusts=trusts)
            for each in MECHANISMS
        ),
        Attempt("SCRAM_ONLY", "SASL_PLAINTEXT", "PLAIN"),
        Attempt("EXPIRED", "SSL", trusts=trusts),
        Attempt("TLS", "SSL", trusts=made.foreign),
        Attempt("MUTUAL", "SSL", trusts=trusts),
        Attempt("MUTUAL", "SSL", trusts=trusts, shows=made.foreign),
        Attempt("MUTUAL", "SSL", trusts=trusts, shows=made.old_client),
        Attempt("TLS", "PLAINTEXT"),
        Attempt("SASL_TLS", "SASL_PLAINTEXT", "PLAIN"),
        Attempt("PLAINTEXT", "SSL", trusts=trusts),
        Attempt("SASL", "PLAINTEXT"),
        Attempt("PLAINTEXT", "SASL_PLAINTEXT", "PLAIN"),
    ]


@pytest.mark.parametrize("name", CLIENTS)
def test_ways_in(both: Both, name: str) -> None:
    for each in ways_in(both.certificates):
        attempt = msgspec.structs.replace(each, seconds=PATIENT_SECONDS)
        asked = both.ask(attempt.listener, partial(report, CLIENTS[name], attempt=attempt))
        assert asked == (["in"], ["in"]), attempt


@pytest.mark.parametrize("name", CLIENTS)
def test_what_clients_report(both: Both, name: str) -> None:
    attempts = refused(both.certificates)
    if name == "kafka-python":  # it tries again and again, until its time is over
        attempts = [each for each in attempts if each.user == "bob" and "512" not in each.mechanism]

    def asked(attempt: Attempt) -> tuple[list[str], list[str]]:
        real = report(CLIENTS[name], both.real.address(attempt.listener), attempt)
        return real, report(CLIENTS[name], both.ours.addresses(attempt.listener), attempt)

    if name == "confluent-kafka":  # it logs nothing, so that many may run at a time
        with ThreadPoolExecutor(len(attempts)) as pool:
            found = list(pool.map(asked, attempts))
    else:
        found = [asked(each) for each in attempts]
    assert [
        (attempt, real, ours)
        for attempt, (real, ours) in zip(attempts, found, strict=True)
        if not equal(real, ours) or ours == ["in"]
    ] == []


@pytest.mark.parametrize("name", CLIENTS)
def test_behind_a_proxy(both: Both, name: str) -> None:
    """Logins pass, with TLS on both sides; a wrong password is reported as without the proxy."""
    made = both.certificates
    keys, trust = {"ssl.keystore.location": made.server.bundle}, made.authority.file
    clients, cluster = (
        TlsSettings.from_properties({key: str(value) for key, value in each.items()})
        for each in (keys, {"ssl.truststore.location": trust})
    )
    real = both.real.address("SASL_TLS")
    with SyncProxy(
        real, tls=clients.server_context("none"), upstream_tls=cluster.client_context()
    ) as proxy:
        with SyncAdminClient(
            proxy.bootstrap_servers,
            sasl_mechanism="PLAIN",
            sasl_username="bob",
            sasl_password=PASSWORDS["bob"],
            ssl_context=cluster.client_context(),
        ) as client:
            (node,) = client.describe_cluster().nodes
        behind = f"{node.host}:{node.port}"
        for mechanism in MECHANISMS:
            attempt = Attempt("SASL_TLS", "SASL_SSL", mechanism, trusts=made.authority)
            assert report(CLIENTS[name], behind, attempt) == ["in"]
        wrong = msgspec.structs.replace(attempt, password="wrong")
        without, through = (report(CLIENTS[name], each, wrong) for each in (real, behind))
        assert equal(without, through), (without, through)


@pytest.mark.parametrize("listener", ["SASL", "SESSIONS"])
def test_exchanges(both: Both, listener: str) -> None:
    wrong = []
    for steps in AGAIN if listener == "SESSIONS" else EXCHANGES:
        real, ours = both.ask(listener, partial(play, steps=steps))
        wrong += [(steps, real, ours)] if real != ours else []
    assert wrong == []


@pytest.mark.parametrize("listener", ["SASL", "SESSIONS"])
def test_logins_that_a_proxy_knows_of(both: Both, listener: str) -> None:
    """Also behind a handshake that the broker refuses, which ends no session."""
    real = both.real.address(listener)
    exchanges = AGAIN if listener == "SESSIONS" else EXCHANGES
    with SyncProxy(real, [NoTokens()]) as proxy:
        for steps in exchanges:
            if DELEGATION_TOKEN in steps:
                assert play(proxy.bootstrap_servers, steps) == play(real, steps)


def test_names_of_certificates(both: Both) -> None:
    """The real node's log of requests has the principals."""
    made = both.certificates
    for number, subject in enumerate(SUBJECTS):
        shows = made.issue(f"odd-{number}", subject=subject)
        with tls(both.real.address("MUTUAL"), made, shows) as client:
            assert asked(client)
        with tls(both.ours.addresses("MUTUAL"), made, shows) as client:
            assert asked(client)
            ours = principal(both.ours, client)
        logged = re.findall(rb'"principal":("(?:[^"\\]|\\.)*")', both.real.request_log())
        assert ours in {json.loads(each) for each in logged}, subject


@pytest.mark.parametrize("data", NO_TLS)
def test_no_tls(both: Both, data: bytes) -> None:
    real, ours = both.ask("TLS", lambda at: all_bytes(at, data))
    assert real == ours


@settings(max_examples=draws(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn_exchanges)
def test_drawn_exchanges(both: Both, steps: list[Named]) -> None:
    real, ours = both.ask("SASL", lambda at: play(at, steps))
    assert real == ours


def test_javas_tools(both: Both, tmp_path: Path) -> None:
    """Users made by ConfigCommand are in at once, and out once they are deleted."""
    tools = KafkaTools(both.real.jars)
    with contextlib.closing(tools):
        for files in _configs(both.certificates, tmp_path):
            outcomes = []
            for real, address in ((True, both.real.address), (False, both.ours.addresses)):
                outcomes.append(_script(tools, files, address, real))
            assert outcomes[0] == outcomes[1]
            statuses = [each.partition("\n")[0] for each in outcomes[0]]
            assert statuses[:5] == ["0", "0", "0", "0", "1"]


def test_javas_command_makes_a_token_with_which_its_clients_log_in(
    both: Both, tmp_path: Path
) -> None:
    with contextlib.closing(KafkaTools(both.real.jars)) as tools:
        for address in (both.real.address("SASL"), both.ours.addresses("SASL")):
            _use_a_token(tools, address, tmp_path)


def _use_a_token(tools: KafkaTools, address: str, folder: Path) -> None:
    def words(command: str, *login: str) -> tuple[str, ...]:
        return (command, "--bootstrap-server", address, "--command-config", _file(folder, *login))

    run = words("DelegationTokenCommand", "PLAIN", "bob", PASSWORDS["bob"])
    made = tools.run(*run, "--create", "--max-life-time-period", "-1")
    id_, hmac = made.split("MAXDATE")[1].split()[:2]

    def is_there() -> bool:
        return id_ in tools.run(*run, "--describe", "--owner-principal", "User:bob")

    def log_in() -> list[int]:
        logins = [words("TopicCommand", each, id_, hmac) for each in MECHANISMS[1:]]
        return [tools.outcome(*each, "--list").status for each in logins]

    wait_until(is_there, "the token is there")
    assert log_in() == [0, 0]
    ended = tools.run(*run, "--expire", "--expiry-time-period", "-1", "--hmac", hmac)
    assert "Completed expire operation" in ended
    wait_until(lambda: not is_there(), "the token is gone")
    assert log_in() == [1, 1]


def _file(folder: Path, mechanism: str, user: str, password: str) -> str:
    """The path of a file for --command-config; SCRAM is with a delegation token."""
    is_plain = mechanism == "PLAIN"
    module, more = ("plain.Plain", "") if is_plain else ("scram.Scram", " tokenauth=true")
    file = folder / f"{mechanism}.properties"
    file.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\nsasl.jaas.config="
        f"org.apache.kafka.common.security.{module}LoginModule required "
        f'username="{user}" password="{password}"{more};\n'
    )
    return str(file)


def _configs(made: Certificates, folder: Path) -> Iterator[dict[str, Path]]:
    """Files for --command-config by user, for each mechanism."""
    for mechanism in MECHANISMS[1:]:
        files = {}
        for user, password in {"admin": "admin-secret", "carol": "carol-secret"}.items():
            file = files[user] = folder / f"{mechanism}-{user}.properties"
            file.write_text(
                "security.protocol=SASL_SSL\n"
                "ssl.truststore.type=PEM\n"
                f"ssl.truststore.location={made.authority.file}\n"
                f"sasl.mechanism={mechanism}\n"
                "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
                f'username="{user}" password="{password}";\n'
            )
        yield files


def _script(
    tools: KafkaTools, files: dict[str, Path], address: Callable[[str], str], real: bool
) -> list[str]:
    mechanism = files["admin"].name.rpartition("-")[0]
    bootstrap = address("SASL_TLS")
    side = Side(bootstrap, address("CONTROLLER") if real else bootstrap)
    plain = Side(address("PLAINTEXT"), bootstrap)
    user = ["--entity-type", "users", "--entity-name", "carol"]
    add = [
        "ConfigCommand",
        "--alter",
        "--add-config",
        f"{mechanism}=[password=carol-secret]",
        *user,
    ]
    drop = ["ConfigCommand", "--alter", "--delete-config", mechanism, *user]
    topics = ["TopicCommand", "--list"]
    said = []
    for who, words in (
        ("admin", add),
        ("admin", ["ConfigCommand", "--describe", *user]),
        ("carol", topics),
        ("admin", drop),
        ("carol", topics),
        ("admin", drop),
    ):
        given = ["--bootstrap-server", bootstrap, "--command-config", str(files[who])]
        outcome = tools.outcome(*words, *given)
        plain.wait_for_brokers()
        text = f"{outcome.status}\n{outcome.stdout}\n--\n{outcome.stderr}"
        said.append(normalised(text, side, files[who].parent))
    return said
