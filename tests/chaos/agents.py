"""Agents that have a memory: the model that they ask, and what must hold of their turns."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from control_plane import Store
from dcf.memory import SYSTEM, Memory, NewAgent, Source, TurnRecord, random_id
from tests.chaos.machines import KEEPER, Order
from tests.chaos.verdict import Verdict

_LONGEST_THOUGHT_S = 3.0


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
        for problem in await memory.check():
            verdict.add("the memory is whole", str(problem))
        turns: dict[str, list[TurnRecord]] = defaultdict(list)
        for agent in await memory.agents.list(limit=10_000):
            _judge_agent(await memory.turns.list(agent.id, limit=10_000), turns, verdict)
    for order in orders:
        for path in order.turns:
            incarnation = (await store.run(order.id)).incarnation
            _judge_state(turns.get(f"{order.id}/{path}/{incarnation}", []), order, path, verdict)


def _judge_agent(
    turns: Sequence[TurnRecord], by_holder: dict[str, list[TurnRecord]], verdict: Verdict
) -> None:
    """Turns of one agent never overlap, and nobody goes back to an earlier fence."""
    highest: dict[str, int] = defaultdict(int)
    last = 0
    for turn in turns:
        verdict.turns[turn.state] += 1
        said = f"turn {turn.id} of {turn.holder} number {turn.fence}"
        if turn.state == "running":
            verdict.add("no turn is left", f"{said} is under way")
        if turn.holder is not None:
            by_holder[turn.holder].append(turn)
            if turn.fence < highest[turn.holder]:
                verdict.add("turns are fenced", f"{said} began after a later one")
            highest[turn.holder] = max(highest[turn.holder], turn.fence)
        if turn.first <= last:
            verdict.add("turns do not overlap", f"{said} began inside another one")
        if turn.state == "answered":
            last = turn.last or turn.first


def _judge_state(turns: Sequence[TurnRecord], order: Order, path: str, verdict: Verdict) -> None:
    """Every Task that succeeded has the answer of its agent: the turn of the newest lease. One more
    may have been answered by a worker that died before it could tell."""
    # Turns for one state may be with several agents of a pool.
    turns = sorted(turns, key=lambda turn: (turn.fence, turn.first))
    answered = [turn for turn in turns if turn.state == "answered"]
    said = f"{path} of {order.id}"
    if not answered:
        verdict.add("memory and state agree", f"{said} succeeded, and no turn of it was answered")
    elif turns[-1] is not answered[-1]:
        verdict.add("memory and state agree", f"{said}: its last turn is {turns[-1].state}")
    for turn in turns:
        if turn.state == "failed" and turn.error != "DCF.Interrupted":
            verdict.add("no turn fails", f"{said}: {turn.error}: {turn.cause}")
