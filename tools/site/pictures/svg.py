"""Pictures as SVG, drawn with the page's own colours.

A picture on a page of the site stands in its HTML and takes the colours of ``extra.css``, which
follow the reader's choice of light or dark. A picture in a file (`standalone`) has its own.
"""

from __future__ import annotations

import html

#: Widths of a character, in parts of the size of its font.
_MONOSPACE, _SANS = 0.602, 0.62
_MONO_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
_SANS_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
#: What each class of a shape looks like. The colours are variables.
STYLE = f"""
.picture text {{ fill: var(--ink); font-family: {_SANS_FONT}; }}
.picture .mono {{ font-family: {_MONO_FONT}; }}
.picture .faint {{ fill: var(--faint); }}
.picture .box {{ fill: var(--box); stroke: var(--line); }}
.picture .first {{ fill: var(--first); stroke: var(--line); }}
.picture .second {{ fill: var(--second); stroke: var(--line); }}
.picture .line {{ fill: none; stroke: var(--line); }}
.picture .arrow {{ fill: none; stroke: var(--faint); }}
.picture .head {{ fill: var(--faint); }}
"""
_LIGHT = (
    "--ink: #1d1f23; --faint: #5c6270; --line: #8d93a1; "
    "--box: #eef0f4; --first: #cfdcf7; --second: #f6dfc2;"
)
_DARK = (
    "--ink: #e4e6eb; --faint: #a4aab6; --line: #737a88; "
    "--box: #2a2e37; --first: #2f4672; --second: #6b4d22;"
)


def text_width(text: str, size: float, *, mono: bool = False) -> float:
    """About how wide a text is."""
    return len(text) * size * (_MONOSPACE if mono else _SANS)


class Picture:
    """Shapes, from the back to the front, in units that are pixels at full size."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._shapes: list[str] = []
        self.width = self.height = 0.0

    def box(self, x: float, y: float, width: float, height: float, kind: str = "box") -> None:
        """A rectangle; ``kind`` is a class of `STYLE`."""
        self._reach(x + width, y + height)
        size = f'width="{width:g}" height="{height:g}"'
        self._shapes.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" {size} rx="3"/>')

    def text(
        self, x: float, y: float, text: str, *, size: float = 13, kind: str = "",
        anchor: str = "start", link: str = "",
    ) -> None:  # fmt: skip
        """A text whose baseline is at y; ``link`` makes a link of it."""
        wide = text_width(text, size, mono="mono" in kind)
        self._reach(x + wide / {"start": 1, "middle": 2, "end": 1e9}[anchor], y + size * 0.3)
        marks = f' class="{kind}"' if kind else ""
        marks += f' text-anchor="{anchor}"' if anchor != "start" else ""
        shape = f'<text{marks} x="{x:g}" y="{y:g}" font-size="{size:g}">{html.escape(text)}</text>'
        self._shapes.append(f'<a href="{html.escape(link)}">{shape}</a>' if link else shape)

    def line(self, *points: tuple[float, float], kind: str = "line") -> None:
        """A line through points."""
        self._reach(max(x for x, _ in points), max(y for _, y in points))
        listed = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._shapes.append(f'<polyline class="{kind}" points="{listed}"/>')

    def arrow_head(self, x: float, y: float) -> None:
        """The tip of an arrow that points down to a place."""
        self._shapes.append(f'<path class="head" d="M{x:g} {y:g}l-4 -7h8z"/>')

    def _reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def svg(self) -> str:
        """The picture for the HTML of a page, in one line, as Markdown wants it."""
        return "".join(self._lines(""))

    def standalone(self) -> str:
        """The picture as a file, light or dark as the reader's system is."""
        style = (
            f"<style>.picture {{ {_LIGHT} }}\n@media (prefers-color-scheme: dark) "
            f"{{ .picture {{ {_DARK} }} }}{STYLE}</style>"
        )
        return "\n".join(self._lines(style)) + "\n"

    def _lines(self, style: str) -> list[str]:
        width, height = self.width + 4, self.height + 4
        head = (
            f'<svg class="picture" xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">'
        )
        parts = [head, f"<title>{html.escape(self.title)}</title>", style, *self._shapes, "</svg>"]
        return [part for part in parts if part]


def site_style() -> str:
    """The stylesheet of pictures in pages: light or dark as the page is."""
    return (
        f'.picture {{ {_LIGHT} }}\n[data-md-color-scheme="slate"] .picture {{ {_DARK} }}\n{STYLE}'
    )
