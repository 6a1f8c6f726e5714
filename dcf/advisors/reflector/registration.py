"""Making an agent the Reflector of a Planner."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dcf.advisors.errors import NotJson, OneAgentTwice
from dcf.advisors.reflector.board import KEEPER, GuidelinesBoard
from dcf.advisors.reflector.claims import claims
from dcf.advisors.reflector.desk import REFERENCE, REGISTRATION, Desk, reflector_of
from dcf.agents import AgentRuntime, LocalAgents
from dcf.guidelines import ITEMS, LABEL, Guidelines, Rules, iso, merge, parse_guidelines
from dcf.memory import NewBlock

LIMIT = 20_000
"""Bytes of the guidelines."""


@dataclass(frozen=True, slots=True)
class Registered:
    """Both agents and the blocks that join them."""

    planner_agent_id: str
    reflector_agent_id: str
    registration_block_id: str
    guidelines_block_id: str
    warnings: tuple[str, ...]


async def register_reflector(
    runtime: AgentRuntime,
    planner_agent_id: str,
    reflector_agent_id: str,
    *,
    initial_guidelines_json: str | None = None,
    now: int,
    rules: Rules | None = None,
) -> Registered:
    """Let both share the block ``reflector_guidelines``, and each know the other. What it says
    already stays, ``initial_guidelines_json`` is merged into it as an agent's word (``claims``).
    Interrupted, it is called again; registering another Reflector takes the first one's place, with
    a warning.

    Raises UnknownAgent, OneAgentTwice, NotJson, InvalidGuidelines.
    """
    if planner_agent_id == reflector_agent_id:
        raise OneAgentTwice(agent=planner_agent_id)
    initial, warnings = _initial(initial_guidelines_json)
    await runtime.get(planner_agent_id)
    await runtime.get(reflector_agent_id)
    before = await reflector_of(runtime, planner_agent_id)
    if before is not None:
        same = "again" if before == reflector_agent_id else f"in the place of {before}"
        warnings.append(f"registered {same}")
    guidelines_id = await _share(runtime, planner_agent_id, reflector_agent_id)
    if initial is not None:
        board = GuidelinesBoard(runtime, planner_agent_id)
        warnings += await _merge_initial(board, initial, now, rules or Rules())
    reference = {
        "planner_agent_id": planner_agent_id,
        "guidelines_block_id": guidelines_id,
        "registered_at": iso(now),
    }
    await Desk(runtime, reflector_agent_id).put(REFERENCE, reference, "The Planner it advises.")
    # Last: who is registered has all the rest.
    registration = {
        "reflector_agent_id": reflector_agent_id,
        "registered_at": iso(now),
        "planner_agent_id": planner_agent_id,
    }
    block = await Desk(runtime, planner_agent_id).put(
        REGISTRATION, registration, "The Reflector that advises it."
    )
    return Registered(
        planner_agent_id, reflector_agent_id, block.id, guidelines_id, tuple(warnings)
    )


async def open_board(runtime: AgentRuntime, planner_agent_id: str) -> GuidelinesBoard:
    """The board of the Planner, with an empty block if it has none. Raises UnknownAgent."""
    await _guidelines_block(runtime, planner_agent_id)
    return GuidelinesBoard(runtime, planner_agent_id)


def _initial(text: str | None) -> tuple[Guidelines | None, list[str]]:
    if text is None or not text.strip():
        return None, []
    try:
        document: Any = json.loads(text)
    except ValueError as wrong:
        raise NotJson(what="initial_guidelines_json", wanted="JSON", why=wrong) from wrong
    guidelines, problems = parse_guidelines(document)
    return guidelines, [str(problem) for problem in problems]


async def _merge_initial(
    board: GuidelinesBoard, initial: Guidelines, now: int, rules: Rules
) -> list[str]:
    """What was not taken in, or had to go, and why."""
    given = [item for kind in ITEMS for item in initial.items(kind)]
    items, warnings = claims(given, rules)
    _, dropped = await board.change(lambda before: merge(before, items, now), now, rules)
    return [*warnings, *(f"no room for {what}" for what in dropped)]


async def _share(runtime: AgentRuntime, planner_agent_id: str, reflector_agent_id: str) -> str:
    """Let the Reflector hold the Planner's block; its id."""
    block_id = await _guidelines_block(runtime, planner_agent_id)
    own = await Desk(runtime, reflector_agent_id).find(LABEL)
    if own is not None and own.id == block_id:
        return block_id
    if own is not None:
        await _let_go(runtime, reflector_agent_id)
    await runtime.attach_block(reflector_agent_id, block_id, by=KEEPER)
    return block_id


async def _guidelines_block(runtime: AgentRuntime, planner_agent_id: str) -> str:
    desk = Desk(runtime, planner_agent_id)
    is_local = isinstance(runtime, LocalAgents)
    found = await desk.find(LABEL)
    if found is not None and (is_local or not found.read_only):
        return found.id
    if found is not None:
        # On a server nobody may write to a closed block, its keeper neither.
        await runtime.detach_block(planner_agent_id, LABEL, by=KEEPER)
    made = await desk.add(
        NewBlock(
            label=LABEL,
            value=found.value if found is not None else "",
            description="What earlier runs taught, published by the Reflector.",
            type="shared",
            hard_limit=LIMIT,
            read_only=is_local,
        )
    )
    return made.id


async def _let_go(runtime: AgentRuntime, agent_id: str) -> None:
    if isinstance(runtime, LocalAgents):
        await runtime.memory.blocks.detach(agent_id, LABEL, by=KEEPER, as_owner=True)
    else:
        await runtime.detach_block(agent_id, LABEL, by=KEEPER)
