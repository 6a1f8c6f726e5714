"""The way between a process and the server, with everything that can happen on it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from control_plane import Disconnected, Script
from dcf.simulation.process import Process
from dcf.simulation.server import Server
from dcf.simulation.weather import Weather

_RESEND_S = 0.05
_AGAIN_S = 0.3
T = TypeVar("T")
Act = Callable[[], Awaitable[Any]]

_WEIGHTS = {"commit": 3.0, "acquire": 1.5, "renew": 2.0, "claim": 0.2, "tick": 0.5}
"""How likely a fault is on a call, against the other scripts; reads have less still."""


class FaultyBackend:
    """A ``Backend`` of one process: calls are delayed, lost, said twice, or the last thing that
    the process does. Nothing that it says after its death reaches the server."""

    def __init__(self, server: Server, weather: Weather, process: Process, *, mortal: bool) -> None:
        self._server = server
        self._weather = weather
        self._process = process
        self._mortal = mortal

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``."""
        who = self._process.name
        act = partial(self._server.run, who, script, keys, args)
        return await self._call(act, _WEIGHTS.get(script.name, 1.0))

    async def command(self, *args: str | int) -> Any:
        """See ``Backend.command``."""
        return await self._call(partial(self._server.command, self._process.name, *args), 0.3)

    async def close(self) -> None:
        """Nothing to release."""

    async def _call(self, act: Act, weight: float) -> Any:
        process = self._process
        await process.awake()
        fate = self._weather.fate(weight=weight, mortal=self._mortal)
        if fate.fault == "crash_before":
            await process.die()
        if fate.fault == "crash_in_flight":
            # The bytes are on the wire: the server acts though nobody is left to hear of it.
            asyncio.get_running_loop().call_later(fate.trouble_s, self._server.later, act)
            await process.die()
        await asyncio.sleep(fate.there_s + (fate.trouble_s if fate.fault == "slow" else 0.0))
        if process.dead:
            await process.die()
        if fate.fault == "refused":
            self._server.refuse(fate.answer, fate.trouble_s)
        if fate.fault == "request_lost":
            raise Disconnected("the request was lost")
        reply = await act()
        if fate.fault == "crash_after":
            await process.die()
        if fate.fault == "resent":
            await asyncio.sleep(_RESEND_S)
            if process.dead:
                await process.die()
            reply = await act()
        if fate.fault == "stopped":
            process.stop(fate.trouble_s)
        await asyncio.sleep(fate.back_s)
        await process.awake()
        if fate.fault == "reply_lost":
            raise Disconnected("the reply was lost")
        return reply


class SureBackend:
    """A ``Backend`` without faults: for callers that they must not reach."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self._name = name

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``."""
        return await self._server.run(self._name, script, keys, args)

    async def command(self, *args: str | int) -> Any:
        """See ``Backend.command``."""
        return await self._server.command(self._name, *args)

    async def close(self) -> None:
        """Nothing to release."""


def tokens_of(name: str) -> Callable[[], str]:
    """The tokens of somebody for whom nothing is drawn from the seed: the same in every process."""
    rng = random.Random(name)
    return lambda: f"{rng.getrandbits(128):032x}"


async def until_heard(act: Callable[[], Awaitable[T]]) -> T:
    """What ``act`` gives, which is repeated until the server answers."""
    while True:
        try:
            return await act()
        except Disconnected:
            await asyncio.sleep(_AGAIN_S)
