"""``kap users``: SCRAM users, and the quotas of users, clients and addresses."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table, listed
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.files import read_text
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES
from kafka_admin_proto.cli.admin.common.parameters import KeyValue
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.output import compact_json

#: What the commands use of the client.
_QUOTAS = ("quotas:QuotaOperations",)
_USERS = ("users.scram_credentials:UserOperations",)

users = lazy_group("users", "SCRAM users and their passwords; quotas.")

#: Quotas as brokers know them: a broker takes the removal of any other as done.
_KEYS = (
    "producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
    "connection_creation_rate",
)  # fmt: skip
_THOSE = f"they are {', '.join(_KEYS)}"
#: Where a new password may come from, beside a file and the terminal.
NEW_PASSWORD = "KAP_NEW_PASSWORD"
_DEFAULT_ENTITY = "<default>"
_NO_QUOTAS = "no quotas are as the options say: kap users quotas without options lists all"
_MECHANISMS = click.Choice(["SCRAM-SHA-256", "SCRAM-SHA-512"], case_sensitive=False)


@users.command("list", cls=ClusterCommand, items="users", operations=_USERS)
@click.argument("names", nargs=-1, metavar="[USER]...")
def list_users(live: Live, names: tuple[str, ...]) -> Answer:
    """List SCRAM users: their mechanisms and iterations. Passwords cannot be read back.

    \b
    Examples:
      kap users list
      kap users list alice
    """
    items = live.rows(lambda client: client.describe_users(names or None))
    rows = [{"user": item["user"], **each} for item in items for each in item["credentials"]]
    return Answer(
        document={"users": items},
        tables=[Table(rows=rows)],
        errors=failures.entries("user", items, "user"),
        notes=[] if items else ["no SCRAM users"],
    )


@users.command("set", cls=ClusterCommand, items="users", operations=_USERS)
@click.argument("name", metavar="USER")
@click.option(
    "--mechanism",
    type=_MECHANISMS,
    multiple=True,
    default=("SCRAM-SHA-512",),
    show_default=True,
    help="A mechanism to log in with; repeatable.",
)
@click.option(
    "--iterations", type=WholeNumber(4096, 16384), default=4096, show_default=True,
    help="Rounds of hashing.",
)  # fmt: skip
@click.option(
    "--password-file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="A file that holds the password in its first line; - is standard input.",
)
def set_user(
    live: Live, name: str, mechanism: tuple[str, ...], iterations: int, password_file: str | None
) -> Answer:
    """Create a SCRAM user, or give one a new password.

    The password comes from --password-file, from KAP_NEW_PASSWORD or from a prompt: never from
    the command line, which everybody on the machine can read. It does not leave this program: the
    cluster gets its salted hash.

    \b
    Examples:
      kap users set alice
      kap users set app --mechanism SCRAM-SHA-256 --password-file secret.txt
    """
    password = _new_password(name, password_file)

    wanted = [
        admin.ScramUpsertion(name, password, admin.ScramMechanism(each.upper()), iterations)
        for each in dict.fromkeys(mechanism)
    ]
    return _altered(live.ask(lambda client: client.alter_users(wanted)), "password set")


@users.command("delete", cls=ClusterCommand, items="users", operations=_USERS)
@click.argument("names", nargs=-1, required=True, metavar="USER...")
@click.option("--mechanism", type=_MECHANISMS, multiple=True, help="This one alone; all otherwise.")
@YES
def delete(live: Live, names: tuple[str, ...], mechanism: tuple[str, ...], yes: bool) -> Answer:
    """Delete SCRAM users: they cannot log in any more.

    \b
    Examples:
      kap users delete alice
      kap users delete app --mechanism SCRAM-SHA-256 --yes
    """
    wanted = dict.fromkeys(names)
    confirm(f"Delete the login of {', '.join(wanted)}?", yes=yes)

    mechanisms = [admin.ScramMechanism(each.upper()) for each in mechanism]
    results = live.ask(lambda client: client.delete_users(wanted, mechanisms))
    return _altered(results, "deleted")


@users.command("quotas", cls=ClusterCommand, items="quotas", operations=_QUOTAS)
@click.option("--user", help="A user; with an empty name the default of all users.")
@click.option("--client-id", help="A client id; empty for the default.")
@click.option("--ip", help="An address; empty for the default.")
@click.option(
    "--set",
    "sets",
    type=KeyValue(),
    multiple=True,
    metavar="QUOTA=N",
    help="producer_byte_rate=1048576 and the like; repeatable.",
)
@click.option("--unset", multiple=True, metavar="QUOTA", help="A quota to remove; repeatable.")
@click.option("--dry-run", is_flag=True, help="Let the cluster check it, and change nothing.")
def quotas(
    live: Live,
    user: str | None,
    client_id: str | None,
    ip: str | None,
    sets: tuple[tuple[str, str], ...],
    unset: tuple[str, ...],
    dry_run: bool,
) -> Answer:
    """List quotas, or set and remove those of an entity.

    \b
    Examples:
      kap users quotas
      kap users quotas --user alice --set producer_byte_rate=1048576
      kap users quotas --user '' --client-id app --unset request_percentage
    """
    given = {"user": user, "client-id": client_id, "ip": ip}
    entity = {kind: name or None for kind, name in given.items() if name is not None}
    if sets or unset:
        if not entity:
            raise click.UsageError("whose quotas? Name --user, --client-id or --ip")
        return _set_quotas(live, entity, sets, unset, dry_run)

    wanted = [
        admin.QuotaComponent(
            kind, admin.QuotaMatch.EXACT if name else admin.QuotaMatch.DEFAULT, name
        )
        for kind, name in entity.items()
    ]
    items = live.rows(lambda client: client.describe_client_quotas(wanted))
    rows = [
        {**_entity_row(item["entity"]), "quota": key, "value": value}
        for item in items
        for key, value in item["quotas"].items()
    ]
    return Answer(
        document={"quotas": items},
        tables=[Table(rows=rows)],
        notes=[] if items else [_NO_QUOTAS if entity else "no quotas"],
    )


def _set_quotas(
    live: Live,
    entity: dict[str, str | None],
    sets: tuple[tuple[str, str], ...],
    unset: tuple[str, ...],
    dry_run: bool,
) -> Answer:
    changes: dict[str, float | None] = dict.fromkeys(unset)
    for key, text in sets:
        if key in changes:
            raise click.UsageError(f"{key} is to change twice: give one --set or --unset for it")
        try:
            changes[key] = float(text)
        except ValueError:
            raise click.UsageError(f"{key}: {text!r} is not a number") from None
        if not math.isfinite(changes[key] or 0):
            raise click.UsageError(f"{key}: {text!r} is no limit; --unset {key} removes a quota")

    wanted = [admin.QuotaAlteration(entity, changes)]
    items = live.rows(
        lambda client: client.alter_client_quotas(wanted, validate_only=dry_run, look_up=True)
    )
    (quota,) = items
    quota["quotas"] = changes
    entity_row = _entity_row(quota["entity"])
    slips = [key for key in quota["not_set"] if key not in _KEYS]
    done = {key: value for key, value in changes.items() if key not in slips}
    errors = [
        failures.entry("INVALID_CONFIG", f"there is no such quota: {_THOSE}", {"quota": key})
        for key in slips
    ]
    if quota["error"]:
        done = {}
        errors = [failures.entry(quota["error"], quota["message"], {"entity": entity_row})]
    not_set = [key for key in quota["not_set"] if key in done]
    return Answer(
        document={"quotas": items, "dry_run": dry_run},
        tables=[Table(rows=[{**entity_row, "quota": key, "value": done[key]} for key in done])],
        errors=errors,
        notes=_done(done, not_set, "would be " * dry_run),
    )


def _done(changes: dict[str, float | None], not_set: Sequence[str], would: str) -> list[str]:
    """Sentences about the quotas that were set, were removed, or were not there to remove."""
    sets = [key for key, value in changes.items() if value is not None]
    removed = [key for key, value in changes.items() if value is None and key not in not_set]
    done = [
        f"{would}{verb}: {', '.join(keys)}"
        for verb, keys in (("set", sets), ("unset", removed))
        if keys
    ]
    return ["; ".join(done)] * bool(done) + [f"{key} was not set" for key in not_set]


def _entity_row(entity: Row) -> Row:
    """An entity's parts as tables and TSV have them; None for a part that it does not have."""
    return {
        kind.replace("-", "_"): _entity_name(entity[kind]) if kind in entity else None
        for kind in ("user", "client-id", "ip")
    }


def _entity_name(name: str | None) -> str:
    """A name, or Kafka's word for the default of all users; a name that is that word is quoted."""
    if not name:
        return _DEFAULT_ENTITY
    return compact_json(name) if name == _DEFAULT_ENTITY or name.startswith('"') else name


def _altered(results: Any, done: str) -> Answer:
    items: list[Row] = msgspec.to_builtins(results)
    errors = failures.entries("user", items, "user")
    failed = {item["user"] for item in items if item["error"]}
    fine = [user for user in dict.fromkeys(item["user"] for item in items) if user not in failed]
    return listed("users", items, errors, [f"{done}: {', '.join(fine)}"] if fine else [])


def _new_password(user: str, file: str | None) -> str:
    """The password to set. Raises click.UsageError where there is none, or an empty one."""
    if file is not None:
        password = read_text(file).split("\n", 1)[0].rstrip("\r")
    elif NEW_PASSWORD in os.environ:
        password = os.environ[NEW_PASSWORD]
    elif sys.stdin and sys.stdin.isatty():
        password = click.prompt(
            f"New password of {user}", hide_input=True, confirmation_prompt=True, err=True
        )
    else:
        raise click.UsageError(
            f"there is no password for {user}: give --password-file FILE, or set {NEW_PASSWORD}"
        )
    if not password:
        raise click.UsageError(f"the password for {user} is empty")
    return password
