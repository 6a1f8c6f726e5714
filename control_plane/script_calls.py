"""Calling the scripts of a run, standalone or in a cluster."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

from control_plane import keys, payload, script
from control_plane.accepting import Gap
from control_plane.backend import Backend
from control_plane.claims import moment_ms
from control_plane.clock import NewToken, new_token
from control_plane.errors import BadDocument, Disconnected, UnknownRun
from control_plane.keys import RunKeys
from control_plane.lease import Refusal

QUEUE_LIMIT = 100_000
OUTBOX_LIMIT = 100_000
"""How many runs, and how many records, may wait for the graph."""


class ScriptCalls:
    """A backend and the names of its keys.

    ``cluster`` writes ids as hash tags; the hints of a script are then sent from here, since it
    cannot reach the queue's slot. With ``outbox`` runs wait for the graph when they are finalized.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        pool: str = "default",
        cluster: bool = False,
        outbox: bool = False,
        tokens: NewToken = new_token,
    ) -> None:
        self.backend = backend
        self.pool = pool
        self.cluster = cluster
        self._outbox = outbox
        self._tokens = tokens
        self.gap = Gap(lambda: asyncio.get_running_loop().time())
        """When this store was refused or not answered last."""

    @property
    def feeds_outbox(self) -> bool:
        """Whether what ends here waits for the graph."""
        return self._outbox

    def in_pool(self, pool: str) -> Self:
        """The same for the runs and leases of ``pool``; what it has read is shared."""
        other = copy(self)
        other.pool = pool
        return other

    def keys(self, workflow_id: str) -> RunKeys:
        """The keys of a run."""
        return RunKeys(workflow_id, self.cluster)

    def new_id(self) -> str:
        """A fresh unguessable id, for a commit."""
        return self._tokens()

    async def call(
        self,
        name: str,
        workflow_id: str,
        request: dict[str, Any],
        *texts: str,
        extra: Sequence[str] = (),
    ) -> list[Any]:
        """Run a script of a run; in a cluster, send the hints it returned and see to it that the
        run is looked at in time."""
        request["run"] = workflow_id
        text = payload.to_text({key: part for key, part in request.items() if part is not None})
        names = [self.keys(workflow_id).meta]
        if not self.cluster:
            names += [keys.INDEX, keys.queue(self.pool), *extra]
        try:
            answer: list[Any] = await self.backend.run(script.load(name), names, [text, *texts])
        except Disconnected:
            self.gap.seen()
            raise
        if self.cluster:
            look, paths, pool, relist = answer[-1]
            await self.send_hints(workflow_id, paths, pool)
            if relist:
                await self.relist(workflow_id)
            if look:
                await self.backend.command("ZADD", keys.INDEX, "LT", look, workflow_id)
        return answer

    async def send_hints(self, workflow_id: str, paths: Sequence[str], pool: str) -> None:
        """Tell the workers of ``pool`` that these states of a run may be ready."""
        for path in paths:
            await self.backend.command(
                "XADD", keys.queue(pool), "MAXLEN", "~", QUEUE_LIMIT, "*",
                "workflow", workflow_id, "path", path,
            )  # fmt: skip

    async def relist(self, workflow_id: str) -> None:
        """Let the lists say of a run what its document says (for clusters; elsewhere the scripts
        do it). Who dies here leaves it to the run's next tick, or to its retirement."""
        meta, written = self.keys(workflow_id).meta, None
        # Until nobody moved the run meanwhile: what was written last must not be an older state.
        while written != (text := await self.backend.command("JSON.GET", meta, ".ctl") or "{}"):
            run = json.loads(text)
            entry = [workflow_id, run.get("status", ""), run.get("born", "")]
            request = payload.to_text({"runs": [entry]})
            await self.backend.run(script.load("enlist"), [keys.runs("running")], [request])
            written = text

    async def _drop_hint(self, hint: tuple[str, str]) -> None:
        group, entry = hint
        await self.backend.command("XDEL", keys.queue(self.pool), entry)
        await self.backend.command("XACK", keys.queue(self.pool), group, entry)

    async def now_ms(self) -> int:
        """Redis's clock."""
        seconds, micros = await self.backend.command("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    async def look_time(self, workflow_id: str) -> int | None:
        """When the run is due for a look, or None when it is not in the index."""
        score = await self.backend.command("ZSCORE", keys.INDEX, workflow_id)
        return None if score is None else moment_ms(score)

    async def leave_index(self, workflow_id: str, look_ms: int) -> None:
        """Take a run out of the index, unless it was put there anew since it stood at ``look_ms``
        (for clusters; elsewhere the scripts do it)."""
        request = payload.to_text({"run": workflow_id, "at": look_ms})
        await self.backend.run(script.load("leave"), [keys.INDEX], [request])

    def _refused(self, answer: list[Any], workflow_id: str) -> Refusal | None:
        if answer[0] == "unknown_run":
            raise UnknownRun(workflow_id=workflow_id)
        if answer[0] == "bad_document":
            raise BadDocument(reason=answer[1])
        if answer[0] == "ok":
            return None
        return Refusal(answer[0], tuple(str(part) for part in answer[1:-1]))
