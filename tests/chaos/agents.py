"""Agents that have a memory: the model that they ask, and what must hold of their turns."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from control_plane import Store, UnknownRun
from dcf.memory import SYSTEM, Memory, NewAgent, Source, TurnRecord, random_id
from tests.chaos.machines import KEEPER, Order
from tests.chaos.verdict import Guarantee, Verdict

_LONGEST_THOUGHT_S = 3.0
INTERRUPTED = "interrupted because their worker died or lost its lease"
"""How the report names turns of which no guarantee is violated, though they ended as failed."""


@asynccontextmanager
async def thinking(rng: random.Random) -> AsyncIterator[dict[str, str]]:
    """A model that takes its time and then reports; the environment that names it."""

    async def answer(_request: Request) -> JSONResponse:
        await asyncio.sleep(rng.uniform(0.05, _LONGEST_THOUGHT_S))
        call = {"name": "report_result", "arguments": json.dumps({"data": "done"})}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call-1", "type": "function", "function": call}],
        }
        return JSONResponse(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": "gpt-5-mini",
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
            }
        )

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield {
                "DCF_MODEL": "openai:gpt-5-mini",
                "OPENAI_BASE_URL": f"http://127.0.0.1:{listening.getsockname()[1]}/v1",
                "OPENAI_API_KEY": "sk-chaos-0123456789",
            }
        finally:
            server.should_exit = True
            await serving


@asynccontextmanager
async def the_memory(home: Path) -> AsyncIterator[Memory]:
    """The memory of the workers whose home this is."""
    source = Source(home / "memory.db")
    async with Memory.open(
        source, clock=lambda: time.time_ns() // 1_000_000, new_id=random_id
    ) as memory:
        yield memory


async def make_keeper(home: Path) -> None:
    """Make the agent that Tasks of many runs share."""
    async with the_memory(home) as memory:
        await memory.agents.create(NewAgent(KEEPER), by=SYSTEM)


async def judge_turns(home: Path, store: Store, orders: Sequence[Order], verdict: Verdict) -> None:
    """Compare the turns of agents with each other, and with the states that they were taken for."""
    async with the_memory(home) as memory:
        problems = await memory.check()
        turns: dict[str, list[TurnRecord]] = defaultdict(list)
        for agent in await memory.agents.list(limit=10_000):
            judge_agent(await memory.turns.list(agent.id, limit=10_000), turns, verdict)
    if problems or turns:
        verdict.look(
            Guarantee.THE_MEMORY_IS_WHOLE, not problems, "; ".join(str(one) for one in problems)
        )
    for order in orders:
        if order.turns:
            await _judge_order(store, order, turns, verdict)


async def _judge_order(
    store: Store, order: Order, by_holder: Mapping[str, list[TurnRecord]], verdict: Verdict
) -> None:
    try:
        run = await store.run(order.id)
    except UnknownRun:
        # That it is lost is a violation already; no turn can be compared with it.
        return
    states = await store.states(order.id, order.turns)
    for path in order.turns:
        turns = by_holder.get(f"{order.id}/{path}/{run.incarnation}", [])
        done = path in states and states[path].status == "done"
        if run.status == "succeeded" and not done:
            said = f"{order.id} succeeded, and its {path} is not done"
            verdict.look(Guarantee.MEMORY_AND_STATE_AGREE, False, said)
        judge_state(turns, f"{path} of {order.id}", done=done, verdict=verdict)


def judge_agent(
    turns: Sequence[TurnRecord], by_holder: dict[str, list[TurnRecord]], verdict: Verdict
) -> None:
    """Turns of one agent never overlap, and nobody goes back to an earlier fence."""
    highest: dict[str, int] = {}
    last = 0
    for turn in turns:
        verdict.turns[INTERRUPTED if _is_interrupted(turn) else turn.state] += 1
        said = f"turn {turn.id} of {turn.holder} number {turn.fence}"
        verdict.look(Guarantee.NO_TURN_IS_LEFT, turn.state != "running", f"{said} is under way")
        if turn.holder is not None:
            by_holder[turn.holder].append(turn)
            # A holder's first turn goes back to nothing.
            if turn.holder in highest:
                verdict.look(
                    Guarantee.TURNS_ARE_FENCED,
                    turn.fence >= highest[turn.holder],
                    f"{said} began after a later one",
                )
            highest[turn.holder] = max(highest.get(turn.holder, 0), turn.fence)
        if last:
            verdict.look(
                Guarantee.TURNS_DO_NOT_OVERLAP,
                turn.first > last,
                f"{said} began inside another one",
            )
        if turn.state == "answered":
            last = turn.last or turn.first


def judge_state(turns: Sequence[TurnRecord], said: str, *, done: bool, verdict: Verdict) -> None:
    """Every Task that is done has the answer of its agent: the turn of the newest lease. One more
    may have been answered by a worker that died before it could tell."""
    # Turns for one state may be with several agents of a pool.
    turns = sorted(turns, key=lambda turn: (turn.fence, turn.first))
    for turn in turns:
        verdict.look(
            Guarantee.NO_TURN_FAILS,
            turn.state != "failed" or _is_interrupted(turn),
            f"{said}: {turn.error}: {turn.cause}",
        )
    if not done:
        return
    if not any(turn.state == "answered" for turn in turns):
        otherwise = f"{said} is done, and no turn of it was answered"
    else:
        otherwise = f"{said} is done, and its last turn is {turns[-1].state}"
    verdict.look(
        Guarantee.MEMORY_AND_STATE_AGREE,
        bool(turns) and turns[-1].state == "answered",
        otherwise,
    )


def _is_interrupted(turn: TurnRecord) -> bool:
    return turn.state == "failed" and turn.error == "DCF.Interrupted"
