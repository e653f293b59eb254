"""Completion at the shell's prompt: what click knows of commands, and the cluster's names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from click.shell_completion import ShellComplete
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from kafka_admin_proto.cli.admin.common.live import ShellState
from kafka_admin_proto.cli.app import kap


class CommandCompleter(Completer):
    """Completes the word before the cursor."""

    def __init__(self, state: ShellState) -> None:
        self._complete = ShellComplete(kap, {"obj": state}, "kap", "_KAP_COMPLETE")

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        words, last = _split(document.text_before_cursor)
        if words[:1] == ["kap"]:
            words = words[1:]
        is_end = not document.text_after_cursor[:1].isspace()
        for item in self._complete.get_completions(words, last):
            if item.type == "plain":
                # A value follows NAME= at once; behind any other word another one may begin.
                end = " " if is_end and not item.value.endswith("=") else ""
                yield Completion(
                    shlex.quote(item.value) + end if item.value else "",
                    start_position=-len(last),
                    display=item.value,
                    display_meta=item.help or "",
                )


def _split(text: str) -> tuple[list[str], str]:
    """The whole words before the cursor, and the beginning of the one that it is in."""
    try:
        words = shlex.split(text)
    except ValueError:  # a quote that is still open
        return [], ""
    if words and not text[-1].isspace():
        return words[:-1], words[-1]
    return words, ""
