"""What states wait for from outside: answers, signs of life, and the index of those that wait for
somebody's approval."""

from __future__ import annotations

from typing import Any

from control_plane import keys, payload
from control_plane.lease import Refusal
from control_plane.leases import Leases
from control_plane.payload import JSON


class Answers(Leases):
    """Everything that somebody without a lease says to a state."""

    async def list_approval(self, workflow_id: str, path: str) -> None:
        """Note in the index that a state is about to wait for approval."""
        member = keys.approval_member(workflow_id, path)
        await self.backend.command("ZADD", keys.APPROVALS, await self.now_ms(), member)

    async def unlist_approval(self, workflow_id: str, path: str) -> None:
        """Take a state out of that index: it waits for nobody any more."""
        await self.backend.command("ZREM", keys.APPROVALS, keys.approval_member(workflow_id, path))

    async def signal(
        self,
        workflow_id: str,
        path: str,
        *,
        visit: int,
        try_: int,
        event: str,
        value: JSON,
        ask: int | None = None,
        recorded: dict[str, Any] | None = None,
    ) -> Refusal | None:
        """Answer a state from outside (``event`` is callback or approval); None when it counts.

        An approval answers the question with the number ``ask``; ``recorded`` is its event."""
        content = payload.encode(value)
        stored = [content] if content.blob is not None else []
        request: dict[str, Any] = {"path": path, "visit": visit, "try": try_, "event": event}
        request["call"] = self.new_id()
        request["ask"] = ask
        request["blobs"] = [part.digest for part in stored] or None
        texts = [payload.to_text(recorded)] if recorded is not None else []
        answer = await self.with_blobs(
            workflow_id,
            stored,
            lambda: self.call("signal", workflow_id, request, content.stored, *texts),
        )
        return self._refused(answer, workflow_id)

    async def beat(self, workflow_id: str, path: str, *, visit: int, try_: int) -> Refusal | None:
        """Whoever is to answer a state shows that it is alive: ``HeartbeatSeconds`` count anew.
        None when they do."""
        request = {"path": path, "visit": visit, "try": try_}
        return self._refused(await self.call("beat", workflow_id, request), workflow_id)
