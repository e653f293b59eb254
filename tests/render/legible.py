"""What a person would miss on a page: faint texts, texts that are cut, places out of view."""

from __future__ import annotations

import json
from typing import Any

from tests.render.browser import Page

#: WCAG 2.1, level AA, for text.
LEAST_CONTRAST = 4.5
_FAINT = """(() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((c) => c / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  for (const element of document.querySelectorAll(SELECTOR)) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("script, style")) continue;
    const style = getComputedStyle(element), svg = element instanceof SVGElement;
    const colour = parts(svg ? style.fill : style.color);
    let ground = [0, 0, 0, 0], up = element;
    for (; up && ground[3] === 0; up = up.parentElement) {
      ground = parts(getComputedStyle(up).backgroundColor);
      if (ground.length === 3) ground.push(1);
    }
    const alpha = colour.length > 3 ? colour[3] : 1;
    const seen = [0, 1, 2].map((c) => alpha * colour[c] + (1 - alpha) * ground[c]);
    const [dim, bright] = [light(seen), light(ground)].sort((a, b) => a - b);
    const found = (bright + 0.05) / (dim + 0.05);
    if (found < LEAST) {
      faint.push(`${element.className} "${element.textContent.slice(0, 30)}" ${found.toFixed(2)}`);
    }
  }
  return faint;
})()"""
_CUT = """[...document.querySelectorAll(SELECTOR)].filter((each) => each.checkVisibility())
  .filter((each) => each.scrollWidth > each.clientWidth + 1
    && getComputedStyle(each).display !== "inline" || each.scrollHeight > each.clientHeight + 1
    && getComputedStyle(each).overflowY === "hidden")
  .map((each) => each.textContent.slice(0, 60))"""


def show_as(page: Page, width: int, scheme: str, height: int = 900) -> None:
    """Give the window a size and a colour scheme."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    page.call("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.call("Emulation.setDeviceMetricsOverride", size)
    page.rest()
    page.rest()


def faint_texts(page: Page, selector: str = "body *") -> list[str]:
    """Texts of elements whose contrast with their ground is below `LEAST_CONTRAST`."""
    script = _FAINT.replace("SELECTOR", json.dumps(selector))
    found: list[str] = page.value(script.replace("LEAST", str(LEAST_CONTRAST)))
    return found


def cut_texts(page: Page, selector: str) -> list[str]:
    """Texts of elements that do not show all of it."""
    found: list[str] = page.value(_CUT.replace("SELECTOR", json.dumps(selector)))
    return found


def sideways(page: Page) -> list[Any]:
    """Boxes in view that scroll to the side or reach beyond the window."""
    found: list[Any] = page.value(
        """[document.documentElement, ...document.querySelectorAll("body *")]
          .filter((each) => each.checkVisibility() && !each.closest("svg, script"))
          .filter((each) => each.getBoundingClientRect().right > innerWidth + 1
            || each.scrollWidth > each.clientWidth + 1
              && ["auto", "scroll"].includes(getComputedStyle(each).overflowX))
          .map((each) => `${each.tagName} ${each.id} ${each.className}`)"""
    )
    return found
