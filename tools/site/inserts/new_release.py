"""What a release has that the one before it lacks: versions and fields, configs, features."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_admin_proto.protocol.releases import Release, release
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.diff import diff
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.configs.definitions import Definitions, definitions
from kafka_admin_proto.server.releases import ReleaseNumber
from tools.site.markdown import code, field_table, table
from tools.site.pages.server_configs import allowed, shown

NEWER, OLDER = "4.4", "4.3"
_KINDS = {
    "topic": "topics", "broker": "brokers", "group": "groups", "client_metrics": "client metrics",
}  # fmt: skip


def versions() -> str:
    """Each api with versions that only the newer release takes, and the fields of these."""
    rows = []
    for key, before, after in _grown(release(OLDER), release(NEWER)):
        name = (catalog().name_of(key, "request") or "").removesuffix("Request")
        if before.empty:
            what = "a new api"
        else:
            what = "; ".join(filter(None, (_fields(name, end, before, after) for end in _ENDS)))
        had = "" if before.empty else str(before)
        rows.append([f"{name} ({key})", had, str(after), what or "no other field"])
    return "\n".join(field_table(["Api", OLDER, NEWER, "What is new"], rows))


_ENDS = ("Request", "Response")


def _grown(older: Release, newer: Release) -> Iterator[tuple[int, VersionRange, VersionRange]]:
    for key in sorted(newer.versions):
        before, after = older.versions_of(key), newer.versions_of(key)
        if before != after:
            yield key, before, after


def _fields(name: str, end: str, before: VersionRange, after: VersionRange) -> str:
    """What the newest version has, and what it lacks, on one side."""
    message = catalog().spec(f"{name}{end}")
    found = diff(message, before.highest, message, after.highest)
    parts = [code(each.path) for each in found if not each.left]
    gone = [code(each.path) for each in found if not each.right]
    texts = [", ".join(parts)] if parts else []
    texts += [f"no {', '.join(gone)}"] if gone else []
    return f"{end.lower()}: {', '.join(texts)}" if texts else ""


def _definitions(name: str) -> Definitions:
    return definitions(ReleaseNumber.parse(name))


def configs() -> str:
    """The configs that only the newer release has; internal ones are left out."""
    rows = []
    newer, older = _definitions(NEWER), _definitions(OLDER)
    for kind, title in _KINDS.items():
        known = {each.name for each in getattr(older, kind)}
        rows += [
            [title, code(each.name), shown(each.default), allowed(each.validator)]
            for each in sorted(getattr(newer, kind), key=lambda config: config.name)
            if each.name not in known and not each.internal
        ]
    return "\n".join(field_table(["Of", "Config", "Default", "Values"], rows))


def features() -> str:
    """The features whose levels differ."""
    older = {each.name: each for each in _definitions(OLDER).features}
    rows = [
        [code(each.name), f"{before.min} to {before.max}", f"{each.min} to {each.max}"]
        for each in _definitions(NEWER).features
        if (before := older.get(each.name)) is not None and before.max != each.max
    ]
    return "\n".join(table(["Feature", OLDER, NEWER], rows))


INSERTS: dict[str, Callable[[], str]] = {
    "new-versions": versions,
    "new-configs": configs,
    "new-features": features,
}
