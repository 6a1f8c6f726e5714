"""What a Reflector may read of its Planner's memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from dcf.advisors.errors import AnotherReflector, NotJson, NotRegistered
from dcf.advisors.reflector.desk import REGISTRATION, reflector_of
from dcf.agents import AgentRuntime
from dcf.guidelines import LABEL
from dcf.memory import LOADED_SKILLS, Block
from dcf.secret_name import names_a_secret

DEFAULT_LABELS = (
    "persona",
    "human",
    "system",
    "archival_memory",
    "working_context",
    LABEL,
    REGISTRATION,
)
NEVER = frozenset({"dcf_active_skills", LOADED_SKILLS})
"""These, and all whose labels name secrets, are shown to nobody."""


@dataclass(frozen=True, slots=True)
class SharedBlocks:
    """``warnings`` name what was asked for and is not shown."""

    planner_agent_id: str
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...]


async def read_shared_memory_blocks(
    runtime: AgentRuntime,
    planner_agent_id: str,
    *,
    reflector_agent_id: str | None = None,
    include_labels_json: str | None = None,
    exclude_labels_json: str | None = None,
    include_all: bool = False,
) -> SharedBlocks:
    """The Planner's blocks of the default labels, of those included, or all, without those
    excluded and never those that hold secrets. Only a Planner with a Reflector shares anything.

    Raises UnknownAgent, NotRegistered, AnotherReflector, NotJson.
    """
    included = _labels("include_labels_json", include_labels_json)
    excluded = _labels("exclude_labels_json", exclude_labels_json) or []
    held = await runtime.blocks(planner_agent_id)
    registered = await reflector_of(runtime, planner_agent_id)
    if registered is None:
        raise NotRegistered(planner=planner_agent_id)
    if reflector_agent_id is not None and reflector_agent_id != registered:
        raise AnotherReflector(
            reflector=reflector_agent_id, planner=planner_agent_id, registered=registered
        )
    # What is included comes beside the default labels.
    wanted = {*DEFAULT_LABELS, *(included or ())}
    shown = tuple(
        block
        for block in held
        if (include_all or block.label in wanted)
        and block.label not in excluded
        and not _is_hidden(block.label)
    )
    return SharedBlocks(planner_agent_id, shown, _warnings(included or [], held))


def _labels(name: str, text: str | None) -> list[str] | None:
    if text is None or not text.strip():
        return None
    try:
        value = json.loads(text)
    except ValueError as wrong:
        raise NotJson(what=name, wanted="a JSON list of labels", why=wrong) from wrong
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        raise NotJson(what=name, wanted="a JSON list of labels", why=f"it is {text[:80]}")
    return value


def _warnings(included: Sequence[str], held: Sequence[Block]) -> tuple[str, ...]:
    there = {block.label for block in held}
    return tuple(
        f"{label} is never shared" if _is_hidden(label) else f"there is no block {label}"
        for label in dict.fromkeys(included)
        if _is_hidden(label) or label not in there
    )


def _is_hidden(label: str) -> bool:
    return label.lower() in NEVER or names_a_secret(label)
