"""What a field holds, by its name: error codes and topic ids have one in all messages."""

from __future__ import annotations


def is_error_field(name: str) -> bool:
    """Whether a field of that Python name, or path of such names, holds an error code."""
    return name.endswith("error_code")


def is_topic_id_field(name: str) -> bool:
    """Whether a field of that Python name holds a topic id, or several."""
    return name.rstrip("s").endswith("topic_id")
