"""Numbers that options take: the error for another value says what was expected."""

from __future__ import annotations

import math
from typing import Any

import click


class _Number(click.types.ParamType[Any]):
    """What the types below share: bounds, and an error that names them."""

    what = ""

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        try:
            number = super().convert(value, parameter, context)
        except click.BadParameter:
            number = math.nan
        if math.isnan(number):  # which is a float, too
            low, high = vars(self)["min"], vars(self)["max"]
            bounds = (
                "" if low is None else f", {low} or more" if high is None else f", {low} to {high}"
            )
            self.fail(f"expected {self.what}{bounds}, not {str(value)!r}", parameter, context)
        return number


class WholeNumber(_Number, click.IntRange):
    """A whole number between two others."""

    name = "integer"
    what = "a whole number"


class FloatNumber(_Number, click.FloatRange):
    """A float between two others, or an endless one."""

    name = "float"


class Seconds(FloatNumber):
    """A number of seconds; infinity stands for no end."""

    what = "a number of seconds"
