"""Steps of a peer on a listener with SASL, in a form for two clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from kafka_admin_proto.messages import CreateDelegationTokenRequest, MetadataRequest
from kafka_admin_proto.protocol import frame
from kafka_admin_proto.protocol.connection import SaslScram
from tests.server.security.secured import MECHANISMS, PASSWORDS, Peer, peer

#: One step: what the cluster answered, None where it closed the connection.
Step = Callable[[Peer], object]
RIGHT = b"\0bob\0bob-secret"
#: Tokens of PLAIN and of SCRAM's first message, right and wrong.
TOKENS = (
    RIGHT, b"\0admin\0admin-secret", b"bob" + RIGHT, b"admin" + RIGHT, b"", b"bob\0bob-secret",
    b"\0bob\0", b"\0\0bob-secret", b"\0bob\0wrong", b"\0mallory\0wrong", b"\0bob\0bob-secret\0x",
    b"\0\xff\0\xff", b"n,,n=bob,r=abc", b"n,,n=mallory,r=abc", b"n,a=bob,n=bob,r=abc",
    b"n,a=admin,n=bob,r=abc", b"y,,n=bob,r=abc", b"p=tls,,n=bob,r=abc", b"n,,n=b=ob,r=abc",
    b"n,,m=x,n=bob,r=abc", b"n,,n=bob,r=abc,x=y", b"n,,n=bob,r=abc,tokenauth=true",
    b"n,,n=bob,r=", b"n,,n=,r=abc", b"n,,n=bob", b"n,,n=\xc3\xa6,r=abc", b"c=biws,r=abc,p=AAAA",
)  # fmt: skip


class Named:
    """A step with a text of its own, for failing examples."""

    def __init__(self, text: str, step: Step) -> None:
        self._text, self._step = text, step

    def __call__(self, client: Peer) -> object:
        return self._step(client)

    def __repr__(self) -> str:
        return self._text


def handshake(mechanism: str, version: int = 1) -> Named:
    def step(client: Peer) -> object:
        answer = client.handshake(mechanism, version)
        return answer and (answer.error_code, answer.mechanisms)

    return Named(f"handshake({mechanism!r}, {version})", step)


def token(data: bytes, version: int = 2) -> Named:
    def step(client: Peer) -> object:
        answer = client.authenticate(data, version)
        return answer and _told(
            answer.error_code, answer.error_message, answer.session_lifetime_ms, answer.auth_bytes
        )

    return Named(f"token({data!r}, {version})", step)


def bare(data: bytes) -> Named:
    def step(client: Peer) -> object:
        client.send(frame(data))
        answer = client.frame()
        return None if answer is None else _told(answer)

    return Named(f"bare({data!r})", step)


def _told(*answer: object) -> object:
    """An answer whose SCRAM tokens, which are random, are named only."""
    return tuple(
        each[:2] if isinstance(each, bytes) and each[:2] in (b"r=", b"v=") else each
        for each in answer
    )


def scram(
    mechanism: str, user: str, password: str, proof: Callable[[bytes], bytes] = bytes
) -> Named:
    """Both tokens of an exchange; ``proof`` may change the last one."""

    def step(client: Peer) -> object:
        exchange = SaslScram(mechanism, user, password).exchange(100_000)
        first = client.authenticate(exchange.first())
        if first is None or first.error_code:
            return first and (first.error_code, first.error_message)
        compute = exchange.next(first.auth_bytes)
        assert compute is not None
        return token(proof(compute()))(client)

    return Named(f"scram({mechanism!r}, {user!r}, {password!r})", step)


def _versions(client: Peer) -> object:
    answer = client.versions()
    return answer and answer.error_code


def _metadata(client: Peer) -> object:
    answer = client.ask(MetadataRequest(topics=None), 12)
    return answer and [each.node_id for each in answer.brokers]


def _unknown_version(client: Peer) -> object:
    client.send(frame(b"\0\x12\0\x63\0\0\0\x07\xff\xff\0"))
    answer = client.frame()
    return answer and answer[:6]


def _delegation_token(client: Peer) -> object:
    answer = client.ask(CreateDelegationTokenRequest(), 3)
    return answer and (answer.error_code, answer.principal_name)


VERSIONS = Named("versions", _versions)
METADATA = Named("metadata", _metadata)
#: Whose delegation token a client gets.
DELEGATION_TOKEN = Named("delegation token", _delegation_token)
UNKNOWN_VERSION = Named("unknown version", _unknown_version)

_SCRAM = ("SCRAM-SHA-256", "bob", "bob-secret")
#: Exchanges that are worth a name, on a listener whose sessions do not end.
EXCHANGES: list[list[Named]] = [
    *([handshake(each), token(RIGHT), METADATA] for each in MECHANISMS),
    *([handshake(each, 0), bare(RIGHT), METADATA] for each in MECHANISMS),
    *([VERSIONS, handshake(each), scram(each, "bob", "bob-secret"), METADATA, handshake(each),
       METADATA, token(RIGHT)] for each in MECHANISMS[1:]),
    *([handshake(each), scram(each, "bob", "wrong")] for each in MECHANISMS[1:]),
    *([handshake(each), scram(each, "nobody", "wrong")] for each in MECHANISMS[1:]),
    [handshake("SCRAM-SHA-256"), scram("SCRAM-SHA-512", "bob", "bob-secret")],
    [handshake("SCRAM-SHA-256"), scram(*_SCRAM, lambda last: last[:-4])],
    [handshake("SCRAM-SHA-256"), scram(*_SCRAM, lambda last: last.replace(b"r=", b"r=x"))],
    [handshake("SCRAM-SHA-256"), scram(*_SCRAM, lambda last: b"")],
    [handshake("GSSAPI"), METADATA],
    [handshake(""), METADATA],
    [VERSIONS, VERSIONS],
    [UNKNOWN_VERSION, VERSIONS, handshake("PLAIN"), token(RIGHT), METADATA],
    [UNKNOWN_VERSION, UNKNOWN_VERSION, VERSIONS],
    [METADATA],
    [token(RIGHT)],
    [bare(RIGHT)],
    [handshake("PLAIN"), handshake("PLAIN")],
    [handshake("PLAIN"), VERSIONS],
    [handshake("PLAIN"), bare(RIGHT)],
    [handshake("PLAIN", 0), token(RIGHT)],
    *([handshake("PLAIN"), token(RIGHT, version), METADATA] for version in range(3)),
    *([handshake("PLAIN"), token(RIGHT), handshake("PLAIN", version), DELEGATION_TOKEN]
      for version in range(2)),
    [handshake("PLAIN", 0), bare(RIGHT), handshake("PLAIN", 0), DELEGATION_TOKEN],
]  # fmt: skip
_LOGIN = [handshake("PLAIN"), token(RIGHT)]
#: Exchanges on a listener whose sessions end.
AGAIN: list[list[Named]] = [
    [*_LOGIN, *_LOGIN, METADATA],
    [*_LOGIN, *_LOGIN, *_LOGIN, DELEGATION_TOKEN],
    [*_LOGIN, METADATA, handshake("PLAIN"), VERSIONS],
    [*_LOGIN, METADATA, handshake("PLAIN"), handshake("PLAIN")],
    [*_LOGIN, handshake("PLAIN"), token(b"\0admin\0admin-secret")],
    [*_LOGIN, handshake("PLAIN"), token(b"\0bob\0wrong")],
    [*_LOGIN, handshake("SCRAM-SHA-256"), scram("SCRAM-SHA-256", "bob", "bob-secret")],
    [*_LOGIN, handshake("GSSAPI")],
    [*_LOGIN, handshake("PLAIN", 0), bare(RIGHT), METADATA],
    [*_LOGIN, token(RIGHT), METADATA],
    [*_LOGIN, VERSIONS, VERSIONS],
    [handshake("PLAIN", 0), bare(RIGHT), handshake("PLAIN", 0), bare(RIGHT), METADATA],
    [handshake("PLAIN"), token(RIGHT, 0), handshake("PLAIN"), token(RIGHT, 1), METADATA],
    [handshake("SCRAM-SHA-512"), scram("SCRAM-SHA-512", "bob", "bob-secret"),
     handshake("SCRAM-SHA-512"), scram("SCRAM-SHA-512", "bob", "wrong")],
    [handshake("SCRAM-SHA-512"), scram("SCRAM-SHA-512", "bob", "bob-secret"),
     handshake("SCRAM-SHA-512"), scram("SCRAM-SHA-512", "admin", PASSWORDS["admin"])],
]  # fmt: skip

_drawn_tokens = st.one_of(
    st.sampled_from(TOKENS),
    st.builds(
        lambda data, at, bit: data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :],
        st.sampled_from([each for each in TOKENS if len(each) > 8]),
        st.integers(0, 7),
        st.integers(0, 6),
    ),
    st.builds(lambda data, end: data[:end], st.sampled_from(TOKENS), st.integers(0, 20)),
)
#: A handshake, and tokens that may be damaged.
drawn_exchanges = st.one_of(
    st.builds(
        lambda mechanism, tokens: [handshake(mechanism), *map(token, tokens), METADATA],
        st.sampled_from(MECHANISMS),
        st.lists(_drawn_tokens, min_size=1, max_size=2),
    ),
    st.builds(
        lambda mechanism, data: [handshake(mechanism, 0), bare(data), METADATA],
        st.sampled_from(MECHANISMS),
        _drawn_tokens,
    ),
)


def play(address: str, steps: Sequence[Step]) -> list[object]:
    """The results of the steps until the connection is closed."""
    found: list[object] = []
    with peer(address) as client:
        for step in steps:
            found.append(step(client))
            if found[-1] is None:
                break
    return found
