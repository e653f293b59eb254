"""``kap tokens``: delegation tokens, with which clients log in by SCRAM (KIP-48)."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table, listed
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.wire.secrets import MASK

_OPERATIONS = ("users.delegation_tokens:TokenOperations",)

tokens = lazy_group("tokens", "Delegation tokens: create, list, renew and expire them.")

_IDS = click.argument("ids", nargs=-1, required=True, metavar="TOKEN_ID...")


@tokens.command("list", cls=ClusterCommand, items="tokens", operations=_OPERATIONS)
@click.option(
    "--owner-principal", multiple=True, metavar="User:NAME", help="Of this owner; repeatable."
)
@click.option("--show-secrets", is_flag=True, help="Do not mask the HMACs, which are passwords.")
def list_tokens(live: Live, owner_principal: tuple[str, ...], show_secrets: bool) -> Answer:
    """List the tokens that this client may see: its own, and by ACL others.

    \b
    Examples:
      kap tokens list
      kap tokens list --owner-principal User:alice
    """
    found = live.ask(lambda client: client.describe_delegation_tokens(owner_principal or None))
    items = [_item(each, show_secrets=show_secrets) for each in found]
    return _shown(items, [] if items else ["no tokens"])


@tokens.command("create", cls=ClusterCommand, items="tokens", operations=_OPERATIONS)
@click.option("--owner-principal", metavar="User:NAME", help="Another owner than this client.")
@click.option(
    "--renewer-principal", multiple=True, metavar="User:NAME", help="May renew it; repeatable."
)
@click.option(
    "--max-life-time-period", type=WholeNumber(1), metavar="MS",
    help="How long it can be renewed; the brokers' longest by default.",
)  # fmt: skip
def create(
    live: Live,
    owner_principal: str | None,
    renewer_principal: tuple[str, ...],
    max_life_time_period: int | None,
) -> Answer:
    """Create a token, and show its HMAC: the password of whoever logs in with the token.

    \b
    Examples:
      kap tokens create
      kap tokens create --owner-principal User:app --renewer-principal User:scheduler
    """
    token = live.ask(
        lambda client: client.create_delegation_token(
            owner=owner_principal,
            renewers=renewer_principal,
            max_lifetime_ms=max_life_time_period or -1,
        )
    )
    return _shown([_item(token, show_secrets=True)])


@tokens.command("renew", cls=ClusterCommand, items="tokens", operations=_OPERATIONS)
@_IDS
@click.option(
    "--renew-time-period", type=WholeNumber(1), metavar="MS",
    help="How long from now; the brokers' period by default.",
)  # fmt: skip
def renew(live: Live, ids: tuple[str, ...], renew_time_period: int | None) -> Answer:
    """Renew tokens: they expire later, though not after their longest lifetime.

    \b
    Examples:
      kap tokens renew Fjm2Cn4kTe2qQ1Z7bT3zSw
      kap tokens renew Fjm2Cn4kTe2qQ1Z7bT3zSw --renew-time-period 3600000
    """
    period_ms = renew_time_period or -1
    items = live.rows(lambda client: client.renew_delegation_tokens(ids, period_ms=period_ms))
    return _changed(items, "renewed")


@tokens.command("expire", cls=ClusterCommand, items="tokens", operations=_OPERATIONS)
@_IDS
@click.option(
    "--expiry-time-period", type=WholeNumber(0), metavar="MS",
    help="How long from now; at once by default.",
)  # fmt: skip
@YES
def expire(live: Live, ids: tuple[str, ...], expiry_time_period: int | None, yes: bool) -> Answer:
    """Let tokens expire, at once or later: nobody logs in with them any more.

    \b
    Examples:
      kap tokens expire Fjm2Cn4kTe2qQ1Z7bT3zSw --yes
      kap tokens expire Fjm2Cn4kTe2qQ1Z7bT3zSw --expiry-time-period 60000 --yes
    """
    confirm(f"Let {', '.join(dict.fromkeys(ids))} expire?", yes=yes)
    period_ms = -1 if expiry_time_period is None else expiry_time_period
    items = live.rows(lambda client: client.expire_delegation_tokens(ids, period_ms=period_ms))
    return _changed(items, "expired" if period_ms < 0 else "will expire")


def _changed(items: list[Row], done: str) -> Answer:
    fine = [each["token_id"] for each in items if not each["error"]]
    errors = failures.entries("token_id", items, "token_id")
    return listed("tokens", items, errors, [f"{done}: {', '.join(fine)}"] if fine else [])


def _item(token: admin.DelegationToken, *, show_secrets: bool) -> Row:
    item: Row = msgspec.to_builtins(token)
    return item if show_secrets else {**item, "hmac": MASK}


def _shown(items: list[Row], notes: Sequence[str] = ()) -> Answer:
    return Answer(document={"tokens": items}, tables=[Table(rows=items)], notes=notes)
