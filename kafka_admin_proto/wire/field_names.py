"""What a field holds, by its name: error codes and topic ids have one in all messages."""

from __future__ import annotations


def is_error_code_field(name: str) -> bool:
    """Whether a field of that Python name, or path of such names, holds an error code."""
    return name.endswith("error_code")


def is_error_field(name: str) -> bool:
    """Whether the error code in a field of that Python name says that something failed.

    CreateTopics' ``topic_config_error_code`` belongs to a topic that was created: it says why its
    configs are not described.
    """
    return is_error_code_field(name) and name != "topic_config_error_code"


def is_topic_id_field(name: str) -> bool:
    """Whether a field of that Python name holds a topic id, or several."""
    return name.rstrip("s").endswith("topic_id")
