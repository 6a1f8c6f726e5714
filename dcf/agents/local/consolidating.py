"""What a consolidation has a model write: under the role's model, its price and its allowance."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from dcf.agents.library_lock import LOADING
from dcf.agents.models import (
    REHEARSAL,
    Allowance,
    Bound,
    Models,
    Unlimited,
    Used,
    named_model,
)
from dcf.agents.task_error import TaskError
from dcf.memory import Memory
from dcf.memory.consolidation import Consolidator, Scheduler, Write, WriteFailed, Written

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

ROLE = "reflector"


def sleeptime(memory: Memory, models: Models, environment: Mapping[str, str]) -> Scheduler:
    """What puts the memory of agents with ``enable_sleeptime`` in order while they rest: written by
    the reflector's model, or by rules where that is the rehearsal or cannot be asked."""
    write = consolidation_writer(models, environment)
    return Scheduler(Consolidator(memory, write=write))


def consolidation_writer(
    models: Models,
    environment: Mapping[str, str],
    *,
    model: Model | str | None = None,
    allowance: Allowance | None = None,
) -> Write | None:
    """What ``Consolidator`` takes as ``write``: asks ``model``, or the one that ``environment``
    names for the reflector, and spends ``allowance``. None where that is the rehearsal, which
    cannot write: rules do it. The library is loaded by the first request."""
    asked = model or named_model(environment, role=ROLE).name
    if asked == REHEARSAL:
        return None

    async def write(prompt: str, tokens: int) -> Written:
        counted = _Counted(allowance or Unlimited())
        try:
            response = await _answer(models, asked, counted, prompt, tokens)
        except TaskError as failure:
            raise WriteFailed(str(failure), counted.tokens) from failure
        if response.finish_reason == "length":
            raise WriteFailed("its answer was longer than it may be", counted.tokens)
        return Written(response.text or "", counted.tokens)

    return write


class _Counted:
    """An allowance that counts tokens: those reserved until it is known how many were used."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._taken: dict[str, int] = {}

    @property
    def tokens(self) -> int:
        return sum(self._taken.values())

    async def reserve(self, bound: Bound) -> str:
        own = f"{len(self._taken)} {await self._allowance.reserve(bound)}"
        self._taken[own] = bound.tokens
        return own

    async def settle(self, reservation: str, used: Used) -> None:
        self._taken[reservation] = used.tokens
        await self._allowance.settle(reservation.partition(" ")[2], used)


async def _answer(
    models: Models, asked: Model | str, allowance: Allowance, prompt: str, tokens: int
) -> ModelResponse:
    """Raises TaskError."""
    # In a thread: the library takes a second to load, and others go on meanwhile.
    once = await asyncio.to_thread(_loaded)
    if isinstance(asked, str):
        model = models.of(asked, allowance)
    else:
        model = models.metered(asked, asked.model_id, allowance)
    return await once(model, prompt, tokens)


def _loaded() -> Callable[[Model, str, int], Awaitable[ModelResponse]]:
    with LOADING:
        from dcf.agents.local.asking import ask_once

    return ask_once
