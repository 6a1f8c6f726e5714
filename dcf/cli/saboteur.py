"""Kills a worker in the middle of a tool call, and watches who takes over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from control_plane import encode_name
from dcf.cli.board import Board, Row
from dcf.cli.crew import Crew
from dcf.cli.http_get import get_json
from dcf.cli.screen import Screen

# A call that has been under way for so long is one of the slow ones.
_SLOW_S = 0.5


class Saboteur:
    """Strikes once. ``clock`` is the wall clock that the stub's call log is in, in seconds."""

    def __init__(
        self, crew: Crew, stub_url: str, screen: Screen, *, clock: Callable[[], float]
    ) -> None:
        self._crew = crew
        self._calls_url = f"{stub_url}/calls"
        self._screen = screen
        self._clock = clock
        self.state: str | None = None
        self.victim: str | None = None
        self.heir: str | None = None

    async def tick(self, board: Board) -> str:
        """Look at the board, strike when the moment is there; a note for the table."""
        if self.victim is None:
            await self._strike(board)
        elif self.heir is None:
            self._look_for_heir(board)
        return f"workers: {', '.join(self._crew.living)}"

    async def calls(self) -> list[dict[str, Any]]:
        """The stub's call log."""
        found = await get_json(self._calls_url)
        calls: list[dict[str, Any]] = found["calls"] if found else []
        return calls

    async def _strike(self, board: Board) -> None:
        held = [row for row in board.rows if row.status == "running" and row.holder]
        if not held:
            return
        calls = await self.calls()
        for row in held:
            call = _under_way(calls, f"{board.workflow_id}/{encode_name(row.name)}/")
            if call is None or self._clock() - call["at"] < _SLOW_S:
                continue
            # In a thread: the process is waited for.
            pid = await asyncio.to_thread(self._crew.kill, row.holder)
            self.state, self.victim = row.name, row.holder
            self._tell(row, pid, f"{call['server']}:{call['tool']}")
            return

    def _tell(self, row: Row, pid: int, tool: str) -> None:
        say = self._screen.say
        say("")
        say(f"Now the accident. {row.holder} is in the middle of {row.name}:", "bold")
        say(f"  it has called {tool} and waits for the answer, which takes three seconds.")
        say(f"  kill -9 {pid}. No goodbye, no clean-up; its lease stays behind.", "bold red")
        say("  The carrier has the booking already. Booked twice would be two parcels.")
        say("")

    def conclude(self, holders: Mapping[str, str]) -> None:
        """The run is over; ``holders`` (by path) tell what went too fast to be seen."""
        if self.state is not None and self.heir is None:
            self._succeed(holders.get(encode_name(self.state), ""))

    def _look_for_heir(self, board: Board) -> None:
        for row in board.rows:
            if row.name == self.state:
                self._succeed(row.holder)

    def _succeed(self, holder: str) -> None:
        if holder in ("", self.victim):
            return
        self.heir = holder
        say = self._screen.say
        say(f"The lease of {self.victim} ran out; {holder} took {self.state} over.", "bold green")
        say("  It asked the tool again, with the same idempotency key as before.")


def _under_way(calls: list[dict[str, Any]], prefix: str) -> dict[str, Any] | None:
    """The last call whose key begins with ``prefix``."""
    ours = [call for call in calls if (call.get("idempotency_key") or "").startswith(prefix)]
    return ours[-1] if ours else None
