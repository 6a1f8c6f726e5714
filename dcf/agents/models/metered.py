"""A model whose requests are paid for in advance, timed, and repeated where that may help."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from dcf.agents.models.allowance import Allowance, Bound, Used
from dcf.agents.models.call_settings import CallSettings
from dcf.agents.models.failure import UNREADABLE, Attempt, ModelTimeout, attempt_of
from dcf.agents.models.measure import Measure
from dcf.agents.models.pace import Pace
from dcf.agents.models.price import Price
from dcf.tools import Redactor

Sleep = Callable[[float], Awaitable[object]]
_SHORTEST_S = 0.05
_MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a model is asked. ``name`` is ``provider:model``; ``deadline`` is a moment of
    ``clock`` (seconds, monotonic), None without one. ``redactor`` knows what must not be told of
    what a provider says: it may say the key that it was given."""

    name: str
    price: Price | None
    settings: CallSettings
    allowance: Allowance
    deadline: float | None = None
    pace: Pace = field(default_factory=Pace)
    clock: Callable[[], float] = time.monotonic
    sleep: Sleep = asyncio.sleep
    random: Callable[[], float] = random.random
    redactor: Redactor = field(default_factory=lambda: Redactor({}))


class MeteredModel(WrapperModel):
    """``wrapped`` on ``terms``, for one piece of work.

    Before each request the most that it can use is reserved, so that a budget is never overdrawn,
    however many spend it at once; after it what was used takes that place. A request that broke
    off keeps its reservation: the provider may have done the work. Raises ModelFailure.
    """

    def __init__(self, wrapped: Model, terms: Terms) -> None:
        super().__init__(wrapped)
        self._terms = terms
        self._measure = Measure()

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        calls = _Calls(self._terms)
        bound, most = self._bound(messages, model_settings, model_request_parameters)
        while True:
            call = await calls.begin(bound)
            try:
                async with asyncio.timeout(call.timeout_s):
                    response = await self.wrapped.request(
                        messages, model_settings, model_request_parameters
                    )
            except (TimeoutError, AgentRunError, *UNREADABLE) as error:
                await calls.again(call, error)
                continue
            response.usage = _believed(response.usage)
            await self._settle(call, response.usage, most, messages, model_request_parameters)
            return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncIterator[StreamedResponse]:
        """As ``request``; once the answer has begun nothing is repeated, and the client's own
        timeout is for each part of it."""
        calls = _Calls(self._terms)
        bound, most = self._bound(messages, model_settings, model_request_parameters)
        async with AsyncExitStack() as stack:
            while True:
                call = await calls.begin(bound)
                try:
                    async with asyncio.timeout(call.timeout_s):
                        stream = await stack.enter_async_context(
                            self.wrapped.request_stream(
                                messages, model_settings, model_request_parameters, run_context
                            )
                        )
                    break
                except (TimeoutError, AgentRunError, *UNREADABLE) as error:
                    await calls.again(call, error)
            try:
                yield stream
            except (TimeoutError, AgentRunError) as error:
                await calls.stop(call, error)
                raise
            await self._settle(
                call, _believed(stream.usage), most, messages, model_request_parameters
            )

    def _bound(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        offer: ModelRequestParameters,
    ) -> tuple[Bound, tuple[int, int]]:
        """The bound, and the input and output tokens that it is made of."""
        answer = (settings or {}).get("max_tokens") or self._terms.settings.max_tokens
        most = self._measure.most(messages, offer), answer
        price = self._terms.price
        cost = price.most(*most) if price else None
        return Bound(self._terms.name, sum(most), cost), most

    async def _settle(
        self,
        call: _Call,
        usage: RequestUsage,
        most: tuple[int, int],
        messages: list[ModelMessage],
        offer: ModelRequestParameters,
    ) -> None:
        used = _used(self._terms, call, usage, most)
        if not used.estimated:
            self._measure.counted(messages, offer, used.input_tokens)
        await self._terms.allowance.settle(call.reservation, used)


@dataclass(frozen=True, slots=True)
class _Call:
    reservation: str
    began: float
    timeout_s: float


class _Calls:
    """The requests that one call of a model comes to."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._made = 0

    async def begin(self, bound: Bound) -> _Call:
        """Reserve for another request. Raises ModelBudgetExhausted, PriceUnknown, ModelTimeout."""
        terms = self._terms
        timeout_s = min(terms.settings.timeout_s, self._left())
        if timeout_s < _SHORTEST_S:
            raise ModelTimeout(f"the task has no time left to ask {terms.name}")
        reservation = await terms.allowance.reserve(bound)
        self._made += 1
        return _Call(reservation, terms.clock(), timeout_s)

    async def again(self, call: _Call, error: Exception) -> None:
        """Wait until the request may be repeated after ``error``; raises where it may not."""
        attempt = await self._failed(call, error)
        if attempt is None:
            raise error
        terms = self._terms
        if not attempt.again or self._made > terms.settings.retries:
            raise attempt.failure(self._made) from error
        asked_s = attempt.retry_after_s
        if asked_s is not None and asked_s > terms.pace.most_asked_s:
            late = f"{attempt.cause}; ask again in {asked_s:,.0f} s"
            raise replace(attempt, cause=late).failure(self._made) from error
        wait_s = terms.pace.wait_s(self._made - 1, asked_s, terms.random)
        if wait_s + _SHORTEST_S > self._left():
            failure = attempt.failure(self._made)
            late = f"{failure.cause}; the task's time would be over before another try"
            raise type(failure)(late) from error
        await terms.sleep(wait_s)

    async def stop(self, call: _Call, error: Exception) -> None:
        """``error`` broke off an answer that had begun."""
        attempt = await self._failed(call, error)
        if attempt is not None:
            raise attempt.failure(self._made) from error

    async def _failed(self, call: _Call, error: Exception) -> Attempt | None:
        terms = self._terms
        attempt = attempt_of(error, terms.name, call.timeout_s)
        if attempt is None:
            return None
        if attempt.unbilled:
            cost = Decimal(0)
            duration_ms = round((terms.clock() - call.began) * 1000)
            name = attempt.error.name
            used = Used(terms.name, 0, 0, 0, cost, duration_ms, failure=name)
            await terms.allowance.settle(call.reservation, used)
        return replace(attempt, cause=terms.redactor.text(attempt.cause))

    def _left(self) -> float:
        terms = self._terms
        return float("inf") if terms.deadline is None else terms.deadline - terms.clock()


def _believed(usage: RequestUsage) -> RequestUsage:
    """``usage``, or none at all where a server counts what nothing can have."""
    return usage if usage.input_tokens + usage.output_tokens <= _MOST_TOKENS else RequestUsage()


def _used(terms: Terms, call: _Call, usage: RequestUsage, most: tuple[int, int]) -> Used:
    duration_ms = round((terms.clock() - call.began) * 1000)
    given, answered = usage.input_tokens, usage.output_tokens
    cached, written = usage.cache_read_tokens, usage.cache_write_tokens
    # A server that counts nothing has not worked for nothing.
    estimated = given + answered == 0
    if estimated:
        (given, answered), cached, written = most, 0, 0
    cost = terms.price.cost(given, answered, cached, written) if terms.price else None
    return Used(terms.name, given, answered, cached, cost, duration_ms, estimated)
