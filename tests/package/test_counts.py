"""Sentences say "1 partition", not "1 partitions": all of them through `counts.py`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from kafka_admin_proto.counts import counted, with_commas
from tests.package.sources import modules, of_all_sources, parsed

pytestmark = of_all_sources

#: Kafka's own sentences, which are told to clients letter by letter.
KAFKAS = {
    "kafka_admin_proto/server/groups/consumer/heartbeat.py",
    "kafka_admin_proto/server/groups/share/heartbeat.py",
    "kafka_admin_proto/server/groups/streams/heartbeat.py",
    "kafka_admin_proto/server/partitions/log.py",
    "kafka_admin_proto/server/partitions/message_sets/up_conversion.py",
    "kafka_admin_proto/server/partitions/failures.py",
    "kafka_admin_proto/server/partitions/validation.py",
}
THINGS = re.compile(
    "acls|addresses|attempts|batches|bits|brokers|bytes|captures|changes|characters|clients|"
    "columns|configs|connections|days|digits|directories|dirs|entries|epochs|errors|events|fields|"
    "files|frames|groups|hours|ids|items|iterations|lines|members|messages|minutes|nodes|offsets|"
    "options|packets|partitions|pieces|ports|racks|records|replicas|requests|responses|results|"
    "rows|samples|seconds|segments|steps|tasks|times|tokens|topics|transactions|users|voters"
)
#: What may stand between a number and its things.
_BETWEEN = "(?:(?:more|other|tagged|record|log|committed|consumer|failed) )?"
_COUNTED = re.compile(rf" {_BETWEEN}(?:{THINGS.pattern})\b")


def plurals(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each number in an f-string that a plural follows, whatever the number is."""
    for node in ast.walk(parsed(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, text in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(text, ast.Constant):
                continue
            after = _COUNTED.match(str(text.value))
            if after and value.conversion == -1 and not _is_known(value.value):
                yield node.lineno, f"{{{ast.unparse(value.value)}}}{after[0]}"
    for number, line in enumerate(source.splitlines(), 1):
        if re.search(r"""['"]s['"] (?:\* \(|if )""", line):
            yield number, line.strip()


def _is_known(value: ast.expr) -> bool:
    """A constant, which is above 1; or a text: the names of files, or what `counted` has made."""
    if isinstance(value, ast.Name | ast.Attribute):
        name = value.id if isinstance(value, ast.Name) else value.attr
        return name.isupper()
    return isinstance(value, ast.Call) and (
        (isinstance(value.func, ast.Name) and value.func.id in ("counted", "with_commas"))
        or (isinstance(value.func, ast.Attribute) and value.func.attr == "join")
    )


@pytest.mark.parametrize(
    ("count", "things", "text"),
    [
        (0, "bytes", "0 bytes"),
        (1, "bytes", "1 byte"),
        (1, "more bytes", "1 more byte"),
        (1200, "bytes", "1200 bytes"),
        (1, "addresses", "1 address"),
        (1, "entries", "1 entry"),
    ],
)
def test_counted(count: int, things: str, text: str) -> None:
    assert counted(count, things) == text
    assert with_commas(count, things) == text.replace("1200", "1,200")


def test_every_number_of_things_is_counted() -> None:
    found = {}
    for name, source in modules().items():
        if name in KAFKAS or name.startswith("kafka_admin_proto/messages/"):
            continue
        if slips := list(plurals(source)):
            found[name] = slips
    assert not found


def test_the_search_itself() -> None:
    slips = [
        'f"{n} partitions"',
        'f"{len(x)} log dirs"',
        """f"{n} byte{'s' * (n != 1)}\"""",
        """'s' if n != 1 else ''""",
    ]
    assert all(list(plurals(each)) for each in slips)
    assert not list(plurals("""f"{counted(n, 'partitions')} and {MOST} rows" """))
