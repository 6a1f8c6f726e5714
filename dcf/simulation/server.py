"""The server of a simulation: the twin, a trace of what it was told, and the fate of hints."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from control_plane import ControlPlaneError, Script, ServerError, refusals
from control_plane import keys as redis_keys
from control_plane import script as scripts
from control_plane.twin import Twin
from dcf.simulation.order import EPOCH_S
from dcf.simulation.versions import Versions, ask_earlier
from dcf.simulation.virtual_loop import VirtualLoop, at_once
from dcf.simulation.weather import Weather

POOL = "default"
GROUP = "workers"
EXAMINER = "examiner"
"""Whose calls come after the end; they may be nonsense, so that the model alone judges them."""
# Scripts that speak of several runs, or of none, and of no state.
_NO_HINTS = frozenset(
    {"claim", "list", "enlist", "keep", "leave", "tell", "turn"}
    | {"record_create", "record_change", "record_delete"}
)

Sabotage = Mapping[str, Callable[[str], str]]
"""Changes to the source of scripts by name: for tests that prove that violations are seen."""


@dataclass(frozen=True, slots=True)
class Call:
    """A script that took effect: what was asked (decoded), by whom, and the answer."""

    at: float
    who: str
    script: str
    request: dict[str, Any]
    texts: Sequence[str]
    reply: list[Any]
    keys: Sequence[str] = ()
    earlier: bool = False
    """Whether its script is of an earlier version."""

    def __str__(self) -> str:
        words = [
            str(self.request[key]) for key in ("run", "path", "outcome") if key in self.request
        ]
        if self.script == "tick":
            words.append(str(self.request.get("paths")))
        answer = [part if len(str(part)) < 60 else "…" for part in self.reply]
        return f"{self.at:12.6f}  {self.who:<10} {self.script:<8} {' '.join(words)} -> {answer}"


class Watcher(Protocol):
    """Who looks at each call right after it took effect, before anything else happens."""

    def called(self, call: Call) -> None: ...

    def failed(self, call: Call, error: ControlPlaneError) -> None: ...

    def commanded(self, name: str, args: Sequence[str]) -> None: ...


class Server:
    """Executes calls one at a time, as Redis does."""

    def __init__(
        self,
        loop: VirtualLoop,
        weather: Weather,
        *,
        steps: int,
        watcher: Watcher,
        sabotage: Sabotage | None = None,
        versions: Versions | None = None,
    ) -> None:
        self.twin = Twin(lambda: int((EPOCH_S + loop.now) * 1_000_000), strict_keys=False)
        self.calls = 0
        self.trace: list[str] = []
        self.hints = 0
        self.hints_under_way = 0
        self.earlier_calls = 0
        self._loop = loop
        self._weather = weather
        self._steps = steps
        self._watcher = watcher
        self._versions = versions
        self._sabotaged = {
            name: _broken(scripts.load(name), change) for name, change in (sabotage or {}).items()
        }
        self._late: list[asyncio.Task[Any]] = []
        self._refuses_until = 0.0
        self._accepting: asyncio.TimerHandle | None = None
        self._answer: str | None = None

    async def run(
        self, who: str, script: Script, keys: Sequence[str], args: Sequence[str | int]
    ) -> Any:
        """Run a script now."""
        self._count()
        request = json.loads(str(args[0]))
        texts = [str(text) for text in args[1:]]
        earlier = self._versions and self._versions.earlier(who, script.name)
        if earlier:
            self.earlier_calls += 1
            args = [ask_earlier(self.twin, self.clock(None), earlier, str(args[0])), *args[1:]]
        try:
            reply = await self.twin.run(earlier or self._actual(script), keys, args)
        except ControlPlaneError as told:
            error = _as_backends_raise(told)
            call = self._call(who, script, request, texts, [str(error)], keys)
            self._watcher.failed(call, error)
            raise error from told
        # Some answer with a number alone.
        answer = reply if isinstance(reply, list) else [reply]
        call = self._call(who, script, request, texts, answer, keys, earlier=bool(earlier))
        self._watcher.called(call)
        if script.name not in _NO_HINTS:
            self._disturb_hints(reply[-1][1], reply[-1][2])
        return reply

    async def command(self, who: str, *args: str | int) -> Any:
        """Run a command now (a blocking read when something is there)."""
        self._count()
        self.trace.append(f"{self._loop.now:12.6f}  {who:<10} {' '.join(map(str, args))[:120]}")
        try:
            reply = await self.twin.command(*args)
        except ControlPlaneError as told:
            raise _as_backends_raise(told) from told
        self._watcher.commanded(str(args[0]), list(map(str, args[1:])))
        return reply

    def clock(self, then: int | None) -> int:
        """The server's time (ms); set it to ``then`` first, once the simulation is over."""
        if then is not None:
            self._loop.now = then / 1000 - EPOCH_S + 0.0005
        return int((EPOCH_S + self._loop.now) * 1000)

    def refuse(self, answer: str, seconds: float) -> None:
        """Take no writes for a while, and say ``answer`` to who asks for some."""
        self._answer = answer
        self.twin.refuse(answer)
        self._refuses_until = max(self._refuses_until, self._loop.now + seconds)
        if self._accepting is not None:
            self._accepting.cancel()
        self._accepting = self._loop.call_at(self._refuses_until, self.accept)

    def accept(self) -> None:
        """Take writes, from now on."""
        self._answer = None
        self.twin.refuse(None)

    def later(self, act: Callable[[], Awaitable[Any]]) -> None:
        """A call arrives whose sender is gone."""
        self._late.append(self._loop.create_task(_swallowed(act)))

    async def end(self) -> None:
        """No such call is waited for: a read of one who is gone may last."""
        for task in self._late:
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)

    def _count(self) -> None:
        self.calls += 1
        if self.calls >= self._steps:
            self._weather.calm()

    def _call(
        self, who: str, script: Script, request: dict[str, Any], texts: list[str],
        reply: list[Any], keys: Sequence[str] = (), *, earlier: bool = False,
    ) -> Call:  # fmt: skip
        call = Call(self._loop.now, who, script.name, request, texts, reply, keys, earlier)
        self.trace.append(str(call))
        return call

    def _actual(self, script: Script) -> Script:
        return self._sabotaged.get(script.name, script)

    def _disturb_hints(self, paths: Sequence[str], pool: str) -> None:
        """Lose, double or delay what the last script wrote to the queue of ``pool``, before anybody
        reads."""
        if not paths:
            return
        self.hints += len(paths)
        stream = redis_keys.queue(pool)
        entries = self._anyway("XREVRANGE", stream, "+", "-", "COUNT", len(paths))
        for entry, fields in entries:
            fault = self._weather.hint_fault()
            if fault in ("lost", "late"):
                self._anyway("XDEL", stream, entry)
            if fault == "doubled":
                self._anyway("XADD", stream, "*", *fields)
            if fault == "late":
                self.hints_under_way += 1
                self._loop.call_later(
                    self._weather.seconds(0.01, 20.0), self._deliver, stream, fields
                )

    def _deliver(self, stream: str, fields: Sequence[str]) -> None:
        """A late hint arrives."""
        self.hints_under_way -= 1
        self._anyway("XADD", stream, "*", *fields)

    def _anyway(self, *args: str | int) -> Any:
        """What happens to hints is nobody's command: it is not refused."""
        self.twin.refuse(None)
        try:
            return at_once(self.twin.command(*args))
        finally:
            self.twin.refuse(self._answer)


def _as_backends_raise(error: ControlPlaneError) -> ControlPlaneError:
    """The twin answers as a server; a backend knows a refusal by its answer."""
    refusing = refusals.refusal_in(str(error)) if type(error) is ServerError else None
    return error if refusing is None else refusals.as_error(refusing, str(error), "the twin")


def _broken(original: Script, change: Callable[[str], str]) -> Script:
    """Raises ValueError when nothing is changed: the test would prove nothing."""
    source = change(original.source)
    if source == original.source:
        raise ValueError(f"the sabotage of {original.name} changes nothing")
    return Script(original.name, source)


async def _swallowed(act: Callable[[], Awaitable[Any]]) -> None:
    """Nobody hears the answer."""
    try:
        await act()
    except ControlPlaneError:
        # The watcher has noted it; the sender, who would have been told, is dead.
        return
