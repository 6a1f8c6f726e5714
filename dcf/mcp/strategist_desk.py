"""Strategists and their conductors in memory, where they are agents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dcf.mcp.approval_token import check_approval_token
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.memory import MemoryProblem, UnknownBlock
from dcf.sessions.guidance import agent_named

TIMEOUT_S = 3_600


async def block_ids(
    platform: Platform, conductor_id: str, labels: Iterable[str]
) -> tuple[dict[str, str | None], list[str]]:
    """The ids of the conductor's blocks by label, None for one that it does not have, and what is
    doubtful about it."""
    ids: dict[str, str | None] = dict.fromkeys(labels)
    try:
        runtime = (await platform.home()).runtime
        agent_id = await agent_named(runtime, conductor_id)
        if agent_id is None:
            return ids, [f"{conductor_id} is no agent here: no block shows it the guidelines"]
        for label in ids:
            try:
                ids[label] = (await runtime.block(agent_id, label)).id
            except UnknownBlock:
                continue
    except MemoryProblem as problem:
        return ids, [f"the conductor's memory cannot be read: {problem}"]
    return ids, []


async def tell_strategist(
    platform: Platform,
    strategist_id: str,
    conductor_id: str,
    event: Mapping[str, Any],
    *,
    async_message: bool,
) -> tuple[str, str | None] | None:
    """Send ``event``: the id of the message and, where it was waited for, the answer; None where
    the Strategist is no agent. Raises TaskError if the turn fails, MemoryProblem."""
    runtime = (await platform.home()).runtime
    agent_id = await agent_named(runtime, strategist_id)
    if agent_id is None:
        return None
    message = json.dumps(event, ensure_ascii=False)
    if async_message:
        receipt = await runtime.send_async(
            agent_id, message, sender=conductor_id, timeout_s=TIMEOUT_S
        )
        return receipt.id, None
    reply = await runtime.send(agent_id, message, sender=conductor_id)
    return reply.correlation_id, reply.text


async def check_place(
    platform: Platform, conductor_id: str, present: str | None, wanted: str, token: str | None
) -> None:
    """The first Strategist of a conductor is anybody's to name. Another one in its place takes the
    approval token, unless the present one is no agent."""
    if present is None or present == wanted:
        return
    if await agent_named((await platform.home()).runtime, present) is None:
        return
    try:
        check_approval_token(platform, token)
    except Refused as refused:
        message = f"{conductor_id} has the Strategist {present}: to replace it takes the token"
        raise Refused("strategist_registered", message, hint=refused.hint) from None


async def check_known(platform: Platform, conductor_id: str) -> None:
    """Guidelines for nobody would be read by nobody. Raises Refused."""
    if await platform.guidance.records.get(conductor_id, ()) is not None:
        return
    if await agent_named((await platform.home()).runtime, conductor_id) is None:
        message = f"{conductor_id[:100]!r} is no agent, and has no Strategist"
        hint = "read_session names who conducts; register_strategist makes it known"
        raise Refused("unknown_conductor", message, hint=hint)
