"""Users of a cluster with their passwords: for PLAIN, and as SCRAM credentials in the log."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from hmac import compare_digest
from pathlib import Path

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import UserScramCredentialRecord
from kafka_admin_proto.protocol.connection.scram import ScramCredential, is_sasl_text
from kafka_admin_proto.records.metadata.entities import ScramUser
from kafka_admin_proto.records.metadata.names import mechanism_name
from kafka_admin_proto.server.security.scram import MECHANISMS


class Users:
    """Passwords by name. No ``repr`` and no error shows a password."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        for name, password in passwords.items():
            if not name or not password or not (is_sasl_text(name) and is_sasl_text(password)):
                raise SettingsError(
                    f"the user {name!r} cannot log in: a name and a password are UTF-8 without "
                    "NULs, and neither is empty"
                )
        self._passwords = dict(passwords)

    def __repr__(self) -> str:
        return f"Users({', '.join(self._passwords)})"

    def __reduce__(self) -> str:
        raise TypeError("Users hold passwords and are not pickled; make them again there")

    def is_password(self, name: str, password: str) -> bool:
        """Whether this is the user's password."""
        expected = self._passwords.get(name)
        return expected is not None and compare_digest(expected.encode(), password.encode())

    async def records(
        self, known: Mapping[tuple[str, int], ScramUser]
    ) -> list[UserScramCredentialRecord]:
        """Records of the credentials that the cluster lacks, or has with another password.

        PBKDF2 runs in threads. SCRAM names are ASCII, so users with other names have PLAIN only.
        """
        wanted = [
            (name, mechanism, known.get((name, mechanism)), password)
            for name, password in self._passwords.items()
            if name.isascii()
            for mechanism in MECHANISMS
        ]
        found = await asyncio.gather(*(asyncio.to_thread(_record, *each) for each in wanted))
        return [each for each in found if each is not None]


def _record(
    name: str, mechanism: int, known: ScramUser | None, password: str
) -> UserScramCredentialRecord | None:
    """The record of a password's credential; None if the cluster has it."""
    text = mechanism_name(mechanism)
    if known is not None:
        same = ScramCredential.of_password(
            text, password, salt=known.salt, iterations=known.iterations
        )
        if same.stored_key == known.stored_key:
            return None
    new = ScramCredential.of_password(text, password)
    return UserScramCredentialRecord(
        name, mechanism, new.salt, new.stored_key, new.server_key, new.iterations
    )


def read_users(path: str | os.PathLike[str]) -> dict[str, str]:
    """Passwords by name from lines NAME:PASSWORD; empty lines and comments ("#") are left out.

    Raises SettingsError, which does not quote the line, for a file that cannot be read or has none.
    """
    try:
        lines = Path(path).read_text("utf-8").split("\n")
    except OSError as error:
        raise SettingsError(
            f"the users cannot be read: {path}: {error.strerror or error}"
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(f"the users cannot be read: {path} is not UTF-8") from None
    passwords: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, password = line.partition(":")
        if not name or not password:
            raise SettingsError(f"{path}, line {number}: expected NAME:PASSWORD")
        if name in passwords:
            raise SettingsError(f"{path}, line {number}: the user {name!r} is there already")
        passwords[name] = password
    if not passwords:
        raise SettingsError(f"{path} has no users; write lines NAME:PASSWORD, or leave it out")
    return passwords
