"""The configs that a change alters: those of which an AlterConfigPolicy is asked."""

from __future__ import annotations

from collections import Counter


def altered_list(old: str | None, value: str, *, appends: bool) -> str:
    """A list with the items of ``value`` appended that it lacks, or taken out once each.

    Source: ``ConfigurationControlManager.incrementalAlterConfigResource``.
    """
    items = [item for item in (old or "").split(",") if item]
    if appends:
        known = set(items)
        items += [item for item in dict.fromkeys(value.split(",")) if item not in known]
        return ",".join(items)
    gone = Counter(value.split(","))
    kept = []
    for item in items:
        if gone[item]:
            gone[item] -= 1
        else:
            kept.append(item)
    return ",".join(kept)
