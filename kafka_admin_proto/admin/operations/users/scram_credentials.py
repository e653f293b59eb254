"""SCRAM users: describe, set a password, delete.

The salted password is computed here, as Kafka's clients do: a password never leaves this process,
and neither does it appear in a ``repr`` or an error.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import (
    answer_of,
    failure,
    failure_of,
    note_lost_answer,
    raise_failure,
)
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import (
    AlterUserScramCredentialsResponse,
    DescribeUserScramCredentialsResponse,
)
from kafka_admin_proto.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_admin_proto.messages.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from kafka_admin_proto.wire.secrets import MASK, MaskedStruct

#: Iterations that brokers take, both included.
MIN_ITERATIONS, MAX_ITERATIONS = 4096, 16384

_SALT_BYTES = 24


class ScramMechanism(StrEnum):
    """SCRAM as Kafka names it. UNKNOWN stands for mechanisms of newer brokers."""

    UNKNOWN = "UNKNOWN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"

    @property
    def code(self) -> int:
        """The INT8 on the wire."""
        return list(ScramMechanism).index(self)

    @classmethod
    def of_code(cls, code: int) -> ScramMechanism:
        """The mechanism of that number, or UNKNOWN."""
        members = list(cls)
        return members[code] if 0 <= code < len(members) else cls.UNKNOWN


_Key = tuple[str, ScramMechanism]


class ScramCredential(msgspec.Struct, frozen=True, order=True):
    """The mechanism and iterations of a user's password: brokers send no more."""

    mechanism: ScramMechanism
    iterations: int


class UserDescription(msgspec.Struct, frozen=True):
    """A user's SCRAM credentials."""

    user: str
    credentials: Sequence[ScramCredential] = ()
    error: str | None = None
    message: str | None = None


class ScramUpsertion(MaskedStruct, frozen=True):
    """A password to set. ``salt`` is drawn where it is None."""

    user: str
    password: str
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512
    iterations: int = MIN_ITERATIONS
    salt: bytes | None = None

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [
            ("user", self.user),
            ("password", MASK),
            ("mechanism", str(self.mechanism)),
            ("iterations", self.iterations),
        ]


class ScramDeletion(msgspec.Struct, frozen=True):
    """A password to delete."""

    user: str
    mechanism: ScramMechanism


class AlteredUser(msgspec.Struct, frozen=True):
    """A user's password that was set or deleted, unless there is an error.

    ``mechanism`` is None for a user to delete who has no password, or cannot be looked at.
    """

    user: str
    mechanism: ScramMechanism | None
    error: str | None = None
    message: str | None = None


class UserOperations(Caller):
    """Users that authenticate with SCRAM."""

    async def describe_users(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> list[UserDescription]:
        """The SCRAM credentials of users (of all, sorted, by default).

        A user without credentials has the error RESOURCE_NOT_FOUND. Raises BrokerError.
        """
        wanted = None if users is None else list(users)
        if wanted is not None and not wanted:
            return []  # the request would ask for all
        reply = await self.call(
            # None would ask for all as well, but brokers never answer that where it is not allowed.
            DescribeUserScramCredentialsRequest([UserName(user) for user in wanted or ()]),
            DescribeUserScramCredentialsResponse,
            timeout=timeout,
        )
        body = reply.body
        raise_failure(body.error_code, body.error_message, context="DescribeUserScramCredentials")
        described = {
            result.user: UserDescription(
                result.user,
                sorted(
                    ScramCredential(ScramMechanism.of_code(each.mechanism), each.iterations)
                    for each in result.credential_infos
                ),
                **failure(result.error_code, result.error_message),
            )
            for result in body.results
        }
        return [
            answer_of(user, described) for user in (sorted(described) if wanted is None else wanted)
        ]

    async def alter_users(
        self,
        upsertions: Iterable[ScramUpsertion] = (),
        deletions: Iterable[ScramDeletion] = (),
        *,
        timeout: float | None = None,
    ) -> list[AlteredUser]:
        """Set and delete passwords, with a result for each, upsertions first, in order.

        KRaft takes one alteration of a user in a request, so that a user's second mechanism goes
        out in a second request. Raises InstructionError for what no broker takes: an unknown
        mechanism, an empty name or password, iterations out of bounds, the same password altered
        twice.
        """
        sets, removes = list(upsertions), list(deletions)
        for upsertion in sets:
            _check_upsertion(upsertion)
        for deletion in removes:
            _check(deletion)
        keys = [(each.user, each.mechanism) for each in sets]
        keys += [(each.user, each.mechanism) for each in removes]
        _check_unique(keys)
        # Thousands of iterations: not in the event loop.
        salted = await asyncio.to_thread(lambda: [_salted(each) for each in sets])
        deadline = call_deadline(self, timeout)
        results: dict[_Key, AlteredUser] = {}
        for mechanism in dict.fromkeys(mechanism for _, mechanism in keys):
            try:
                results |= await _alter(
                    self,
                    [each for each in salted if each.mechanism == mechanism.code],
                    [each for each in removes if each.mechanism == mechanism],
                    mechanism,
                    deadline.left,
                )
            except KafkaAdminProtoError as failed:
                if not results:
                    raise
                for key in keys:
                    if key[1] == mechanism:
                        results[key] = AlteredUser(*key, **failure_of(failed))
        return [results[key] for key in keys]

    async def delete_users(
        self,
        users: Iterable[str],
        mechanisms: Iterable[ScramMechanism] = (),
        *,
        timeout: float | None = None,
    ) -> list[AlteredUser]:
        """Delete passwords of users: of these mechanisms, or all that each has without any named.

        Users that cannot be looked at come first, with their error; one without passwords has
        RESOURCE_NOT_FOUND. Raises as ``alter_users``.
        """
        deadline = call_deadline(self, timeout)
        described = await self.describe_users(dict.fromkeys(users), timeout=deadline.left)
        named = list(dict.fromkeys(mechanisms))
        unknown = [AlteredUser(u.user, None, u.error, u.message) for u in described if u.error]
        deletions = [
            ScramDeletion(user.user, each)
            for user in described
            if user.error is None
            for each in named or [credential.mechanism for credential in user.credentials]
        ]
        if not deletions:
            return unknown
        return unknown + await self.alter_users((), deletions, timeout=deadline.left)


async def _alter(
    caller: Caller,
    salted: Sequence[ScramCredentialUpsertion],
    removes: Sequence[ScramDeletion],
    mechanism: ScramMechanism,
    timeout: float | None,
) -> dict[_Key, AlteredUser]:
    reply = await caller.call(
        AlterUserScramCredentialsRequest(
            [ScramCredentialDeletion(each.user, mechanism.code) for each in removes], list(salted)
        ),
        AlterUserScramCredentialsResponse,
        to=Target.CONTROLLER,
        timeout=timeout,
    )
    answers = {
        result.user: failure(result.error_code, result.error_message)
        for result in reply.body.results
    }
    altered: dict[_Key, AlteredUser] = {}
    for new in salted:
        why = answer_of(new.name, answers)
        altered[new.name, mechanism] = AlteredUser(new.name, mechanism, **why)
    for gone in removes:
        why = answer_of(gone.user, answers)
        why = note_lost_answer(why, reply.maybe_repeated, "RESOURCE_NOT_FOUND")
        altered[gone.user, mechanism] = AlteredUser(gone.user, mechanism, **why)
    return altered


def salted_password(
    password: str, salt: bytes, iterations: int, mechanism: ScramMechanism
) -> bytes:
    """SaltedPassword of RFC 5802, as Kafka computes it: of the UTF-8 bytes, without SASLprep."""
    digest = {
        ScramMechanism.SCRAM_SHA_256: "sha256",
        ScramMechanism.SCRAM_SHA_512: "sha512",
    }[mechanism]
    return hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)


def _salted(upsertion: ScramUpsertion) -> ScramCredentialUpsertion:
    salt = secrets.token_bytes(_SALT_BYTES) if upsertion.salt is None else upsertion.salt
    return ScramCredentialUpsertion(
        upsertion.user,
        upsertion.mechanism.code,
        upsertion.iterations,
        salt,
        salted_password(upsertion.password, salt, upsertion.iterations, upsertion.mechanism),
    )


def _check(alteration: ScramUpsertion | ScramDeletion) -> None:
    if not alteration.user:
        raise InstructionError("a SCRAM user needs a name that is not empty")
    if alteration.mechanism is ScramMechanism.UNKNOWN:
        raise InstructionError(
            f"user {alteration.user!r}: UNKNOWN is no mechanism to alter; "
            "use SCRAM-SHA-256 or SCRAM-SHA-512"
        )


def _check_upsertion(alteration: ScramUpsertion) -> None:
    _check(alteration)
    if not alteration.password:
        raise InstructionError(f"user {alteration.user!r}: the password is empty; give one")
    try:
        alteration.password.encode()
    except UnicodeEncodeError:  # which holds the password
        raise InstructionError(f"user {alteration.user!r}: the password is no UTF-8") from None
    if not MIN_ITERATIONS <= alteration.iterations <= MAX_ITERATIONS:
        raise InstructionError(
            f"user {alteration.user!r}: {counted(alteration.iterations, 'iterations')}; brokers "
            "take "
            f"{MIN_ITERATIONS} to {MAX_ITERATIONS}"
        )


def _check_unique(keys: Sequence[_Key]) -> None:
    seen: set[_Key] = set()
    for key in keys:
        if key in seen:
            user, mechanism = key
            raise InstructionError(
                f"user {user!r}: its {mechanism} password is altered more than once; say it once"
            )
        seen.add(key)
