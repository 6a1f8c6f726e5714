"""Whether the ids in a bundle name what is in it, once each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dcf.problem import Problem


def reference_problems(raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Ids that stand twice or name nothing, and labels that an agent would have twice."""
    labels = {block["id"]: block["label"] for block in raw["blocks"]}
    tools = {tool["id"] for tool in raw["tools"]}
    for name in ("agents", "blocks", "tools"):
        yield from _twice(f"/{name}", [one["id"] for one in raw[name]])
    for index, agent in enumerate(raw["agents"]):
        place = f"/agents/{index}"
        yield from _twice(f"{place}/messages", [one["id"] for one in agent["messages"]])
        messages = {message["id"] for message in agent["messages"]}
        yield from _unknown(f"{place}/block_ids", agent["block_ids"], labels, "block")
        yield from _unknown(f"{place}/tool_ids", agent.get("tool_ids") or (), tools, "tool")
        named = agent["in_context_message_ids"] or ()
        yield from _unknown(f"{place}/in_context_message_ids", named, messages, "message")
        held = Counter(labels[one] for one in agent["block_ids"] if one in labels)
        for label in (label for label, times in held.items() if times > 1):
            message = f"the agent {agent['name']!r} has two blocks with the label {label!r}"
            hint = "an agent has one block of a label: rename one, or make one of the two"
            yield Problem("AGENT_FILE_LABEL", message, place, hint)


def _twice(place: str, ids: Iterable[str]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, one in enumerate(ids):
        if first.setdefault(one, index) != index:
            message = f"the id {one!r} is also that of {place}/{first[one]}"
            yield Problem("AGENT_FILE_ID", message, f"{place}/{index}/id")


def _unknown(place: str, ids: Iterable[str], known: Iterable[str], kind: str) -> Iterator[Problem]:
    there = set(known)
    for index, one in enumerate(ids):
        if one not in there:
            message = f"there is no {kind} {one!r} in the file"
            yield Problem("AGENT_FILE_REFERENCE", message, f"{place}/{index}")
