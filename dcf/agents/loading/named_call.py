"""A single call of an agent outside runs that can be said again: its session is the id of the call.

``cp:agent:{id}:call:{sha1}`` remembers, for a week, which call has the id, and for a day what the
tool answered; ``…:open`` stands while it is being made.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any, Self

from control_plane import payload
from dcf.agents.loading.agent_ledger import AgentLedger
from dcf.tools import Decision, ToolResult

_NAME_KEPT_MS = 7 * 24 * 3600 * 1000
_ANSWER_KEPT_MS = 24 * 3600 * 1000


class NamedOtherwise(Exception):
    """The id was given to another call before."""


class CallUnderWay(Exception):
    """This very call is being made."""


class NamedCallLedger(AgentLedger):
    """The ledger of one call, whose session is the call's id: the same id again has the same number
    and the same answer. ``timeout_s`` is how long the call may take."""

    _open_ms: int
    _opened = False

    @classmethod
    async def open(cls, *args: Any, timeout_s: float = 60.0, **options: Any) -> Self:
        """As AgentLedger.open."""
        ledger = await super().open(*args, **options)
        ledger._open_ms = round(timeout_s * 1000)
        return ledger

    @property
    def _place(self) -> str:
        agent = self._document
        named = f"{agent.incarnation}/{self._session}"
        name = hashlib.sha1(named.encode(), usedforsecurity=False).hexdigest()
        return f"{self._agents.keys(agent.agent_id).document}:call:{name}"

    async def recall(self, digest: str) -> ToolResult | None:
        """The answer to the call with this id. Raises NamedOtherwise."""
        kept = await self._kept(digest)
        if "result" in kept:
            return ToolResult(**kept["result"])
        return await super().recall(digest)

    async def note(self, decision: Decision) -> int | None:
        """As AgentLedger.note; also raises CallUnderWay and NamedOtherwise, before anything is on
        record. What is refused at once gets no name."""
        digest = decision.digest
        if decision.verdict != "deny":
            named = payload.to_text({"digest": digest})
            command = self._agents.backend.command
            await command("SET", self._place, named, "NX", "PX", _NAME_KEPT_MS)
            await self._kept(digest)
        if decision.allowed:
            place = f"{self._place}:open"
            # Only one of those who say the same makes the call.
            self._opened = bool(await command("SET", place, "1", "NX", "PX", self._open_ms))
            if not self._opened:
                raise CallUnderWay("the call with this call_id is still being made")
            if "result" in await self._kept(digest):
                raise CallUnderWay("the call with this call_id was answered just now")
        return await super().note(decision)

    async def settle(self, number: int, decision: Decision, result: ToolResult) -> None:
        """Keep the answer."""
        text = payload.to_text({"digest": decision.digest, "result": asdict(result)})
        await self._agents.backend.command("SET", self._place, text, "PX", _ANSWER_KEPT_MS)
        await super().settle(number, decision, result)

    async def close(self) -> None:
        """The call is over."""
        if self._opened:
            self._opened = False
            await self._agents.backend.command("DEL", f"{self._place}:open")
        await super().close()

    async def _kept(self, digest: str) -> dict[str, Any]:
        text = await self._agents.backend.command("GET", self._place)
        kept: dict[str, Any] = json.loads(text) if text else {}
        if kept.get("digest", digest) != digest:
            raise NamedOtherwise("it is the id of another call")
        return kept
