"""The rooms of the package and what they import: a picture, and tables with their docstrings.

A room is a package or a module right below ``kafka_admin_proto``. An arrow leads from a room to one
that it imports, imports for types included. An import that two arrows in a row imply has none.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import grimp
import msgspec

from tools.site.markdown import cell, code, field_table, table
from tools.site.pictures.svg import Picture

ROOT = Path(__file__).parents[3]
PACKAGE = "kafka_admin_proto"
_BOX, _HIGH, _GAP, _FLOOR, _LANE = 140, 42, 22, 72, 14
#: How often the rooms of each floor are put into the order of those next to it.
_SWEEPS = 8


class Room(msgspec.Struct, frozen=True):
    """A room: its first sentence, how many modules it has, and the rooms that it imports."""

    name: str
    sentence: str
    modules: int
    imports: frozenset[str]
    rooms: tuple[tuple[str, str], ...]


@cache
def rooms() -> dict[str, Room]:
    """Every room of the package by its name; ``__main__`` is none."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    imports: defaultdict[str, set[str]] = defaultdict(set)
    modules: defaultdict[str, int] = defaultdict(int)
    for module in graph.modules - {PACKAGE, f"{PACKAGE}.__main__"}:
        room = module.split(".")[1]
        modules[room] += 1
        for imported in graph.find_modules_directly_imported_by(module) - {PACKAGE}:
            if imported.split(".")[1] != room:
                imports[room].add(imported.split(".")[1])
    return {
        name: Room(name, _sentence(name), count, frozenset(imports[name]), _sub_rooms(name))
        for name, count in sorted(modules.items())
    }


def _sentence(*path: str) -> str:
    """What the docstring of a room says first."""
    place = ROOT.joinpath(PACKAGE, *path)
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    first = " ".join(re.split(r"\n\s*\n", text)[0].split())
    return re.sub(r":+\Z", ".", first)


def _marked(sentence: str) -> str:
    """A sentence of a docstring as Markdown, its ``code`` as code."""
    parts = sentence.split("``")
    return "".join(code(part) if at % 2 else cell(part) for at, part in enumerate(parts))


def _sub_rooms(name: str) -> tuple[tuple[str, str], ...]:
    """The packages inside of a room with their first sentences; generated ones are left out."""
    found = sorted(ROOT.joinpath(PACKAGE, name).glob("*/__init__.py"))
    named = [(file.parent.name, _sentence(name, file.parent.name)) for file in found]
    return () if name == "messages" else tuple(named)


@cache
def reached(name: str) -> frozenset[str]:
    """All rooms below a room, those that its rooms import included."""
    imports = rooms()[name].imports
    return imports.union(*map(reached, imports))


@cache
def arrows() -> dict[str, list[str]]:
    """Room → the rooms that it imports and that no other of its rooms implies."""
    found = {}
    for name, room in rooms().items():
        implied = frozenset[str]().union(*map(reached, room.imports))
        found[name] = sorted(room.imports - implied)
    return found


def drawn() -> dict[str, list[str]]:
    """The arrows of the picture; rooms that import no other are left out, but for ``errors``."""
    shown = {name for name, room in rooms().items() if room.imports}
    return {name: [to for to in arrows()[name] if to in shown] for name in sorted(shown)}


def floors(edges: dict[str, list[str]]) -> dict[str, int]:
    """Room → its floor, 0 at the top: as high as the rooms that import it allow."""
    users = {name: [user for user, to in edges.items() if name in to] for name in edges}

    @cache
    def floor(name: str) -> int:
        return 1 + max(map(floor, users[name]), default=-1)

    return {name: floor(name) for name in edges}


def picture() -> Picture:
    """The house: rooms on floors, an arrow from each to those that it stands on."""
    edges = drawn()
    of = floors(edges)
    rows: list[list[str]] = [[] for _ in range(max(of.values()) + 1)]
    for name, floor in of.items():
        rows[floor].append(name)
    # An arrow that passes floors has a lane on each, so that it crosses no room.
    steps: list[tuple[str, str]] = []
    for name, targets in edges.items():
        for target in targets:
            before = name
            for floor in range(of[name] + 1, of[target]):
                lane = f"{name}>{target}>{floor}"
                rows[floor].append(lane)
                steps.append((before, lane))
                before = lane
            steps.append((before, target))
    middles = _middles(_ordered(rows, steps))
    picture = Picture("The rooms of kafka_admin_proto, each with arrows to the rooms it imports")
    for upper, lower in steps:
        _arrow(picture, upper, lower, middles, rows)
    for at, row in enumerate(rows):
        for name in row:
            if name in edges:
                _room(picture, name, middles[name] - _BOX / 2, at * _FLOOR + 2)
    return picture


def _room(picture: Picture, name: str, x: float, y: float) -> None:
    found = rooms()[name]
    is_package = (ROOT / PACKAGE / name).is_dir()
    picture.box(x, y, _BOX, _HIGH, "first" if is_package else "box")
    middle = x + _BOX / 2
    title = f"{name}/" if is_package else f"{name}.py"
    picture.text(middle, y + 18, title, kind="mono", anchor="middle", link=f"#room-{name}")
    count = f"{found.modules} modules" if found.modules > 1 else "a module"
    picture.text(middle, y + 34, count, size=11, kind="faint", anchor="middle")


def _arrow(
    picture: Picture, upper: str, lower: str, middles: dict[str, float], rows: list[list[str]]
) -> None:
    top = next(at for at, row in enumerate(rows) if upper in row) * _FLOOR + 2
    is_lane = ">" in upper
    start = (middles[upper], top + (_HIGH if not is_lane else 0))
    end = (middles[lower], (top // _FLOOR + 1) * _FLOOR + 2)
    points = [start, (start[0], top + _HIGH), end] if is_lane else [start, end]
    picture.line(*points, kind="arrow")
    if ">" not in lower:
        picture.arrow_head(*end)


def _ordered(rows: list[list[str]], steps: list[tuple[str, str]]) -> list[list[str]]:
    """Each row in the order of what it is joined to, so that few arrows cross."""
    joined: defaultdict[str, list[str]] = defaultdict(list)
    for upper, lower in steps:
        joined[upper].append(lower)
        joined[lower].append(upper)
    for row in rows:
        row.sort()
    for sweep in range(_SWEEPS):
        turn = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for at in turn:
            beside = rows[at - 1] if sweep % 2 == 0 else rows[at + 1]
            places = {name: place / len(beside) for place, name in enumerate(beside)}

            def place(name: str, places: dict[str, float] = places) -> float:
                known = [places[each] for each in joined[name] if each in places]
                return sum(known) / len(known) if known else 0.5

            rows[at].sort(key=place)
    return rows


def _middles(rows: list[list[str]]) -> dict[str, float]:
    """Name → where its middle is, the rows centred on each other."""
    wide = {name: _LANE if ">" in name else _BOX for row in rows for name in row}
    whole = [sum(wide[name] for name in row) + _GAP * (len(row) - 1) for row in rows]
    found = {}
    for row, length in zip(rows, whole, strict=True):
        x = (max(whole) - length) / 2 + 2
        for name in row:
            found[name] = x + wide[name] / 2
            x += wide[name] + _GAP
    return found


def rooms_text() -> str:
    """The table of all rooms, from the top of the house down, and of the rooms inside them."""
    order = sorted(rooms(), key=lambda name: (-len(reached(name)), name))
    rows = []
    for name in order:
        room = rooms()[name]
        stands_on = ", ".join(map(code, arrows()[name])) or "no other room"
        place = f'<span id="room-{name}"></span>{code(name)}'
        rows.append([place, _marked(room.sentence), stands_on])
    lines = table(["Room", "What lives there", "Stands on"], rows)
    lines += ["", "## Rooms inside of rooms", ""]
    inside = [
        [code(f"{name}/{sub}"), _marked(sentence)] for name in order
        for sub, sentence in rooms()[name].rooms
    ]  # fmt: skip
    return "\n".join([*lines, *field_table(["Room", "What lives there"], inside)])


INSERTS: dict[str, Callable[[], str]] = {
    "house": lambda: f'<div class="drawing">{picture().svg()}</div>',
    "rooms": rooms_text,
}
