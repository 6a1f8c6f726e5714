"""One turn of an agent at a time, in whichever process it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from dcf.memory import SYSTEM, MemoryProblem, TurnLost, TurnUnderWay, Usage
from dcf.stopping import finish

if TYPE_CHECKING:
    from dcf.memory import Actor, Letter, Memory, NewMessage, TurnFence, TurnRecord

INTERRUPTED = "DCF.Interrupted"
LONGEST_S = 10.0
"""How long a turn counts as under way when nobody says any more that it is."""

_log = logging.getLogger(__name__)
_BY = SYSTEM.because("a turn goes on")
_SHORTEST_WAIT_S = 0.02
_LONGEST_WAIT_S = 0.25


async def begin_in_turn(
    memory: Memory,
    agent_id: str,
    question: NewMessage,
    *,
    by: Actor,
    lease_s: float,
    letter: Letter | None = None,
    fence: TurnFence | None = None,
) -> TurnRecord:
    """Begin the turn as soon as no other process has one with the agent; a turn that an earlier
    holder of ``fence`` began is not waited for. Raises TurnFenced, UnknownAgent, InvalidEntry, and
    for a letter TurnLost."""
    pause_s = _SHORTEST_WAIT_S
    lease_ms = round(lease_s * 1000)
    while True:
        beginning = asyncio.create_task(
            memory.turns.begin(
                agent_id, question, by=by, letter=letter, lease_ms=lease_ms, fence=fence
            )
        )
        try:
            return await asyncio.shield(beginning)
        except TurnUnderWay:
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _LONGEST_WAIT_S)
        except asyncio.CancelledError:
            await finish(_let_be(memory, beginning, letter, by))
            raise


async def _let_be(
    memory: Memory, beginning: asyncio.Task[TurnRecord], letter: Letter | None, by: Actor
) -> None:
    """Nobody works on a turn whose beginning was kept while its caller went away: the next one need
    not wait for it."""
    with suppress(MemoryProblem):
        turn = await beginning
        if letter is not None:
            await memory.turns.leave(turn, by=by)
            return
        cause = "CancelledError"
        await memory.turns.fail(turn, INTERRUPTED, cause, by=by, model="", usage=Usage())


@asynccontextmanager
async def kept(
    memory: Memory, turn: TurnRecord, *, lease_s: float
) -> AsyncIterator[Callable[[], object]]:
    """The turn is under way as long as the block lasts, and the block as long as the turn is. Who
    is about to end the turn calls what the block is given: its own end is not that of another.
    Raises TurnLost once another process went on with the agent: it heard nothing of this one, or
    took over the work of the turn.
    """
    here = asyncio.current_task()
    lost: TurnLost | None = None

    async def keep() -> None:
        nonlocal lost
        while lost is None:
            await asyncio.sleep(lease_s / 3)
            try:
                await memory.turns.keep(turn, by=_BY)
            except TurnLost as problem:
                lost = problem
                if here is not None:
                    here.cancel()
            except MemoryProblem as problem:
                _log.warning("turn %s may be given to another: %s", turn.id, problem)

    keeper = asyncio.create_task(keep())
    try:
        yield keeper.cancel
    except (asyncio.CancelledError, Exception):
        # Whatever became of being cancelled on the way here.
        if lost is None or here is None or here.uncancel() > 0:
            raise
        raise lost from None
    finally:
        keeper.cancel()
