"""What a proxy logs and records of its clients: every frame, and no credential."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import generate_latest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.capture import DecodedFrame, read_captures
from kafka_admin_proto.capture.connection.sasl import SaslExchange, shown_bytes
from kafka_admin_proto.cli.captures.filters import Filter
from kafka_admin_proto.cli.server.proxy import FrameLog
from kafka_admin_proto.protocol import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.proxy import SyncProxy
from kafka_admin_proto.proxy.metrics import Metrics
from kafka_admin_proto.proxy.observation import Ends, Observed, Recorder
from kafka_admin_proto.server import SyncCluster
from tests.capture.credentials import LOGINS, WINDOW, Leaks, Login
from tests.capture.packets import CLIENT, SERVER
from tests.helpers.profile import draws
from tests.helpers.requirements import require_program


class _Kept:
    """Keeps the frames."""

    def __init__(self) -> None:
        self.frames: list[DecodedFrame] = []

    def frame(self, frame: DecodedFrame, ends: Ends, side: int) -> None:
        self.frames.append(frame)

    def closed(self, ends: Ends) -> None: ...


class _Breaks(_Kept):
    def frame(self, frame: DecodedFrame, ends: Ends, side: int) -> None:
        raise OSError("no space left")


def known(frames: list[DecodedFrame]) -> list[Any]:
    return [
        (
            each.direction,
            each.api,
            each.api_version,
            each.correlation_id,
            each.size,
            each.connection,
        )
        for each in frames
    ]


def observe(each: Login, *observers: Any, ends: Ends = (CLIENT, SERVER)) -> None:
    connection = Observed(observers, DEFAULT_FRAME_LIMIT).connection(ends)
    assert connection is not None
    for packet in each.packets:
        connection.passed(int(packet.source != CLIENT), packet.data)
    connection.close()


@pytest.mark.parametrize("each", LOGINS, ids=[each.name for each in LOGINS])
def test_no_credential_is_shown(
    each: Login, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The capture has the frames in their places: their bytes are masked, not their sizes."""
    leaks, kept = Leaks(each.secrets), _Kept()
    file, metrics = tmp_path / "seen.pcap", Metrics()
    with file.open("wb") as out:
        observe(each, kept, Recorder(out), FrameLog(Filter()), metrics)
    assert leaks(b"".join(frame.data for frame in kept.frames).hex()), "they are in the frames"
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == len(kept.frames) + 1
    assert not leaks(printed.out + printed.err)
    assert not leaks(file.read_bytes().hex())
    counted = generate_latest(metrics.registry).decode()
    assert 'kafka_proxy_requests_total{api="' in counted
    assert not leaks(counted)
    assert b"fyko+d2lbbFgONRv9qkxdawL"[:WINDOW] not in file.read_bytes(), "SCRAM's nonce"
    read = list(read_captures([file]))
    assert known(read) == known(kept.frames)
    assert [frame.problem for frame in read if frame.problem] == []
    assert [frame.principal for frame in read] == [frame.principal for frame in kept.frames]
    assert (read[-1].principal is None) == each.name.startswith("OAUTHBEARER")


_NAMES = st.text(st.characters(exclude_characters="\0,=", exclude_categories=["Cs"]), min_size=1)


@settings(max_examples=draws(300))
@given(st.sampled_from(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]), _NAMES, st.data())
def test_a_masked_token_names_the_user(mechanism: str, user: str, data: st.DataObject) -> None:
    """And has nothing behind the name, whatever the token is like."""
    name = user.encode()
    authzid = data.draw(st.sampled_from([b"", name]))
    if mechanism == "PLAIN":
        shown, hidden = authzid + b"\0" + name + b"\0", b"secret"
    else:
        a = b"a=" + authzid if authzid else b""
        shown = data.draw(st.sampled_from([b"n,", b"y,"])) + a + b",n=" + name + b",r="
        hidden = b"fyko+d2lbbFgONRv9qkxdawL"
    assert shown_bytes(mechanism, shown + hidden, from_client=True) == len(shown)
    exchange = SaslExchange(mechanism=mechanism)
    exchange.from_client(shown + b"*" * len(hidden))
    assert exchange.name == user


@pytest.mark.parametrize(
    ("mechanism", "token"),
    [
        ("PLAIN", b"secret\0al\0secret"),
        ("PLAIN", b"\0al\0sec\0ret"),
        ("PLAIN", b"\0\0secret"),
        ("PLAIN", b"secret"),
        ("PLAIN", b"n,,n=al,r=nonce"),
        ("SCRAM-SHA-256", b"\0al\0secret"),
        ("SCRAM-SHA-256", b"n,,n=id,r=nonce,tokenauth=true"),
        ("SCRAM-SHA-256", b"n,a=bo,n=al,r=nonce"),
        ("SCRAM-SHA-256", b"c=biws,r=nonce,p=proof"),
        ("SCRAM-SHA-256", b"n,,r=nonce,n=al"),
        ("OAUTHBEARER", b"n,,n=al,r=token"),
        ("GSSAPI", b"\0al\0secret"),
        ("", b"\0al\0secret"),
    ],
)
def test_a_token_of_no_such_form_is_masked_wholly(mechanism: str, token: bytes) -> None:
    assert shown_bytes(mechanism, token, from_client=True) == 0
    assert shown_bytes(mechanism, token, from_client=False) == 0


def test_a_fault_of_the_decoder_ends_no_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*_: object) -> None:
        raise KeyError("slip")

    kept = _Kept()
    connection = Observed([kept], DEFAULT_FRAME_LIMIT).connection((CLIENT, SERVER))
    assert connection is not None
    monkeypatch.setattr(connection, "_segment", breaks)
    connection.passed(0, b"frame")
    assert kept.frames == []
    assert [each.getMessage() for each in caplog.records] == [
        "10.0.0.1:40000: a frame is not in the log"
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("host", ["10.0.0.1", "fe80::1%eth0"])
def test_tshark_reads_the_capture(host: str, tmp_path: Path) -> None:
    program = require_program("tshark")
    file, kept = tmp_path / "seen.pcap", _Kept()
    server = ("fe80::2" if ":" in host else "10.0.0.2", 9092)
    with file.open("wb") as out:
        observe(LOGINS[-1], kept, Recorder(out), ends=((host, 40000), server))
    found = subprocess.run(
        [program, "-r", str(file), "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
         "-Y", "kafka", "-T", "fields", "-e", "kafka.correlation_id", "-e", "_ws.expert.message"],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout.splitlines()  # fmt: skip
    assert sum(len(line.split("\t")[0].split(",")) for line in found) == len(kept.frames)
    known = [line for line in found if "Unsupported" not in line]  # by its release
    assert len(known) > 3
    assert [line for line in known if "Malformed" in line or "hecksum" in line] == []


def test_an_observer_that_fails_gets_no_more(caplog: pytest.LogCaptureFixture) -> None:
    """A full disk is said once, and clients do not notice."""
    kept = _Kept()
    with (
        SyncCluster() as cluster,
        SyncProxy(cluster.bootstrap_servers, observers=[_Breaks(), kept]) as proxy,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        assert client.list_topics() == []
    (line,) = [each.getMessage() for each in caplog.records]
    assert "ends, and what passes from now on is not in it: OSError: no space left" in line
    apis = {(each.direction, each.api) for each in kept.frames}
    assert apis >= {("request", "Metadata"), ("response", "Metadata")}
    answers = [each for each in kept.frames if each.direction == "response"]
    assert all(each.latency_us is not None for each in answers)
