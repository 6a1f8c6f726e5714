"""Transitions of a whole run: from its seed to its removal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import keys, payload, script
from control_plane.documents import FIRST_PROTOCOL, NO_LIMITS, Failure, Limits
from control_plane.errors import BadDocument, RunExists, UnknownRun
from control_plane.failure_text import cause_of
from control_plane.lease import Refusal
from control_plane.payload import Payload
from control_plane.reader import BATCH, Reader
from control_plane.run_damage import damage_is_told
from control_plane.run_document import RunDocument
from control_plane.script_calls import OUTBOX_LIMIT


@dataclass(frozen=True, slots=True)
class FirstState:
    """The state a run starts with."""

    path: str
    type: str
    input: Payload
    limits: Limits = NO_LIMITS
    callback: bool = False

    def spec(self) -> dict[str, Any]:
        """As the scripts take it."""
        return state_spec(self.path, self.type, self.limits, self.callback)


class RunTransitions(Reader):
    """Everything that moves a run as a whole."""

    async def seed(
        self,
        workflow_id: str,
        *,
        digest: str,
        meta: dict[str, Any],
        states: Sequence[tuple[str, str]],
        start: FirstState,
        timeout_ms: int | None = None,
        protocol: int = FIRST_PROTOCOL,
        pins: str | None = None,
        deaths: int | None = None,
        blobs: Sequence[Payload] = (),
    ) -> bool:
        """Create a run: ``states`` are (path, type), pending until entered; workers that do not
        know ``protocol`` leave it alone; ``pins`` is a digest of what ``meta`` pins the run to, for
        the history; ``deaths`` is how many workers may die over a state (None: 3); ``blobs`` are
        what ``meta`` refers to. True when it is new, False when the same run was there.

        Interrupted anywhere, the same call goes on where it stopped. Raises RunExists when the id
        belongs to another definition or input, BadDocument when ``meta`` cannot be stored.
        """
        keys.check_workflow_id(workflow_id)
        stored = [part for part in (*blobs, start.input) if part.blob is not None]
        meta_text = payload.to_text({**meta, "pool": self.pool, "workflow_id": workflow_id})
        batches = [states[at : at + BATCH] for at in range(0, len(states), BATCH)] or [[]]
        if self.cluster:
            # The index first, so that a run is never without; then the run as pending; then the
            # index again, since a sweep that found no run may have taken it out.
            await self.backend.command("ZADD", keys.INDEX, "NX", 0, workflow_id)
            batches.insert(0, [])
        request: dict[str, Any] = {
            "digest": digest,
            "pool": self.pool,
            "protocol": protocol,
            "call": self.new_id(),
            "deaths": deaths,
            "blobs": [part.digest for part in stored] or None,
        }
        created = False
        for number, batch in enumerate(batches):
            request["states"] = [{"path": path, "type": type_} for path, type_ in batch]
            if number == len(batches) - 1:
                request["start"] = start.spec()
                request["timeout_ms"] = timeout_ms
                request["pins"] = pins
            answer = await self.with_blobs(
                workflow_id,
                stored,
                lambda: self.call("seed", workflow_id, request, meta_text, start.input.stored),
                new=True,
                there=number > 0,
            )
            if answer[0] == "exists":
                raise RunExists(workflow_id=workflow_id)
            if answer[0] == "bad_document":
                raise BadDocument(reason=answer[1])
            if self.cluster and number == 0 and answer[1] == "created":
                await self.backend.command("ZADD", keys.INDEX, 0, workflow_id)
            created = answer[1] == "created"
            if not created:
                break
        return created

    async def cancel(self, workflow_id: str, *, by: str, reason: str = "") -> Refusal | None:
        """Cancel a run; None when it is cancelled now. Raises UnknownRun, BrokenRun."""
        failure = Failure("DCF.Cancelled", reason or f"cancelled by {by}")
        text = payload.to_text(failure.to_json())
        request = {"by": by, "reason": cause_of(reason), "call": self.new_id()}
        async with damage_is_told(self, workflow_id):
            answer = await self.call("cancel", workflow_id, request, text)
        return self._refused(answer, workflow_id)

    async def move(
        self,
        workflow_id: str,
        pool: str,
        *,
        turn: int,
        by: str,
        reason: str = "",
        revoke: bool = False,
    ) -> Refusal | None:
        """Give a run that is not over to the workers of ``pool``; None when they have it now.

        ``turn`` (from 1) numbers the moves of a run: the same one again has no second effect, and
        goes on with one that was interrupted; one that others have passed is refused (``late``, the
        last turn, its pool). With ``revoke`` leases in force end, in the same try; without it their
        holders may finish those states, and what follows goes to ``pool``. ``not_running`` (status)
        when the run is over. Raises UnknownRun, BrokenRun.
        """
        request = {"pool": pool, "turn": turn, "by": by, "reason": reason, "revoke": revoke}
        async with damage_is_told(self, workflow_id):
            answer = await self.call("move", workflow_id, request)
        if refusal := self._refused(answer, workflow_id):
            return refusal
        if answer[1]:
            # Since the first call every other lease and hint is one of the new pool.
            due = await self.backend.command("ZRANGE", self.keys(workflow_id).due, 0, -1)
            for at in range(0, len(due), BATCH):
                paths = due[at : at + BATCH]
                answer = await self.call("move", workflow_id, {**request, "paths": paths})
                if refusal := self._refused(answer, workflow_id):
                    return refusal
        return None

    async def close(self, workflow_id: str) -> int:
        """Close the open documents of a run that is over, in batches; how many there were.

        Safe to repeat; a batch that a fail-over lost is closed again. Raises UnknownRun.
        """
        closed = at = 0
        paths = await self.paths(workflow_id)
        while True:
            request = {"paths": paths[at : at + BATCH], "at": at}
            answer = await self.call("close", workflow_id, request, extra=[keys.DONE])
            if refusal := self._refused(answer, workflow_id):
                if refusal.code != "not_closed":
                    return closed
                at = int(refusal.detail[0])
                continue
            closed, at = closed + int(answer[1]), at + BATCH
            if at >= len(paths):
                return closed

    async def finalize(
        self,
        workflow_id: str,
        *,
        digest: str,
        paths: int,
        by: str,
        audit: dict[str, Any],
        cost: dict[str, Any],
    ) -> Refusal | None:
        """Write the audit record of a run that is over, once; None when it is written now.

        ``digest`` is the end of the history that ``audit`` covers, ``paths`` how many documents it
        counts: ``not_closed`` when a fail-over lost the ``close`` of one of them. A store that was
        made with ``outbox`` puts the run into the outbox in the same script. Raises UnknownRun.
        """
        texts = payload.to_text(audit), payload.to_text(cost)
        limit = OUTBOX_LIMIT if self._outbox else None
        request = {
            "digest": digest,
            "paths": paths,
            "by": by,
            "call": self.new_id(),
            "outbox": limit,
        }
        extra = [keys.OUTBOX_RUNS, keys.OUTBOX_COUNTS] if self._outbox else []
        answer = await self.call("finalize", workflow_id, request, *texts, extra=extra)
        if self.cluster and self._outbox and answer[0] == "ok":
            # Lost when this client dies here; the sweep of the outbox finds it.
            await self.tell_run(workflow_id)
        return self._refused(answer, workflow_id)

    async def tell_run(self, workflow_id: str) -> None:
        """Put a run into the outbox: a hint, which may be doubled."""
        asked = {"kind": "run", "id": workflow_id, "limit": OUTBOX_LIMIT}
        request = payload.to_text(asked)
        names = [keys.OUTBOX_RUNS, keys.OUTBOX_COUNTS]
        await self.backend.run(script.load("tell"), names, [request])

    async def told(self, run: RunDocument, *, refused: bool = False) -> bool:
        """Say that the graph has this end of ``run``, or that nobody can tell it (``refused``);
        False when it moved on meanwhile."""
        as_ = "refused" if refused else "told"
        request = {"born": run.born, "redrives": run.redrives, "as": as_}
        answer = await self.call("told", run.workflow_id, request)
        return bool(answer[0] == "ok")

    async def retire(self, workflow_id: str) -> None:
        """Take a run that is over and finalized out of the index of active runs."""
        look_ms = await self.look_time(workflow_id) if self.cluster else None
        request = {"paths": [], "last": True}
        answer = await self.call("close", workflow_id, request, extra=[keys.DONE])
        if answer[0] == "ok" and look_ms is not None:
            await self.backend.command("ZADD", keys.DONE, await self.now_ms(), workflow_id)
            await self.leave_index(workflow_id, look_ms)

    async def redrive(
        self,
        workflow_id: str,
        *,
        again: Sequence[str],
        resume: Sequence[str],
        unseal: Sequence[str] = (),
        timeout_ms: int | None = None,
        ended: int | None = None,
        by: str | None = None,
    ) -> Refusal | None:
        """Run a failed run again from the states in ``again``; ``resume`` are the joins and frames
        above them, ``unseal`` the states that were never entered.

        None when it runs; "interrupted" when it was closed in between, or ended anew after the
        moment ``ended`` (ms), and has to be planned anew. Raises UnknownRun, BrokenRun."""
        work = [("resume", path) for path in resume] + [("again", path) for path in again]
        work += [("unseal", path) for path in unseal]
        batches = [work[at : at + BATCH] for at in range(0, len(work), BATCH)] or [[]]
        call = self.new_id()
        for number, batch in enumerate(batches):
            last = number == len(batches) - 1
            if self.cluster and last:
                await self.backend.command("ZADD", keys.INDEX, await self.now_ms(), workflow_id)
            request = {
                "call": call,
                "first": number == 0,
                "batch": number,
                "resume": [path for kind, path in batch if kind == "resume"],
                "again": [path for kind, path in batch if kind == "again"],
                "unseal": [path for kind, path in batch if kind == "unseal"],
                "last": last,
                "timeout_ms": timeout_ms,
                "ended": ended,
                "by": by,
            }
            async with damage_is_told(self, workflow_id):
                answer = await self.call("redrive", workflow_id, request, extra=[keys.DONE])
            if refusal := self._refused(answer, workflow_id):
                return refusal
        if self.cluster:
            await self.backend.command("ZREM", keys.DONE, workflow_id)
        return None

    async def remove(
        self,
        workflow_id: str,
        *,
        abandoned: bool = False,
        unexported: bool = False,
        together: int | None = None,
        born: str | None = None,
        marked: Callable[[], Awaitable[None]] | None = None,
    ) -> Refusal | None:
        """Remove all keys of a run that is over, or ``abandoned`` before its submission ended, at
        most so many paths and blobs ``together``; None when it is gone. Who dies over it leaves it
        to the same call again, or to a sweep. ``born`` says which run is meant, where others may
        have had its id since: they stay. ``marked`` is called when it is sure that the run goes
        and nobody redrives it any more; what it raises leaves the keys.

        ``still_running`` (status), ``not_finalized``, or ``not_exported`` for a run that waits for
        the graph, unless it may go ``unexported``. Raises BrokenRun.
        """
        run_keys = self.keys(workflow_id)
        request = {
            "born": await self._born(workflow_id) if born is None else born,
            "abandoned": abandoned,
            "unexported": unexported,
        }
        refusal = await self._collect(workflow_id, request | {"mark": True})
        if refusal is None or refusal.code != "more":
            return refusal
        if marked is not None:
            await marked()
        if self.cluster:
            await self.backend.command("ZREM", keys.DONE, workflow_id)
        while True:
            look_ms = await self.look_time(workflow_id) if self.cluster else None
            paths = await self.paths(workflow_id)
            blobs = sorted(await self.backend.command("SMEMBERS", run_keys.blobs))
            work = [("paths", path) for path in paths] + [("blobs", blob) for blob in blobs]
            size = together or BATCH
            for batch in [work[at : at + size] for at in range(0, len(work), size)] or [[]]:
                named: dict[str, list[str]] = {"paths": [], "blobs": []}
                for kind, name in batch:
                    named[kind].append(name)
                if named["paths"]:
                    members = [keys.approval_member(workflow_id, path) for path in named["paths"]]
                    await self.backend.command("ZREM", keys.APPROVALS, *members)
                refusal = await self._collect(workflow_id, request | named)
            if refusal is None or refusal.code != "more":
                break
        if look_ms is not None:
            await self.leave_index(workflow_id, look_ms)
        return refusal

    async def _born(self, workflow_id: str) -> str | int:
        """As it is stored; "" where there is no document."""
        try:
            run = await self.run(workflow_id)
        except UnknownRun:
            return ""
        born: str | int = run.raw["ctl"]["born"]
        return born

    async def _collect(self, workflow_id: str, request: dict[str, Any]) -> Refusal | None:
        answer = await self.call("gc", workflow_id, request, extra=[keys.DONE])
        return self._refused(answer, workflow_id)


def state_spec(path: str, type_: str, limits: Limits, callback: bool) -> dict[str, Any]:
    """A state to enter, as the scripts take it."""
    spec: dict[str, Any] = {"path": path, "type": type_, **limits.to_json()}
    if callback:
        spec["callback"] = True
    return spec
