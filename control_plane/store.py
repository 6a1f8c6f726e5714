"""Typed client of the control plane: the leases of states and what is done under them."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from typing import Any, cast

from control_plane import keys, payload
from control_plane.backend import Backend
from control_plane.documents import PROTOCOL, Limits, RunDocument, RunStatus, StateDocument
from control_plane.errors import BadDocument
from control_plane.lease import DEFAULT_TTL_MS, Commit, Committed, Lease, Refusal
from control_plane.payload import JSON, Payload
from control_plane.run_transitions import state_spec
from control_plane.tool_calls import ToolCalls

STEPS_LIMIT = 1_000_000
EVENTS_LIMIT = 500_000


class Store(ToolCalls):
    """The control plane of any number of runs; ``steps_limit`` and ``events_limit`` bound each."""

    def __init__(
        self,
        backend: Backend,
        *,
        steps_limit: int = STEPS_LIMIT,
        events_limit: int = EVENTS_LIMIT,
        **options: Any,
    ) -> None:
        super().__init__(backend, **options)
        self._limits = {"steps_limit": steps_limit, "events_limit": events_limit}

    async def acquire(
        self,
        workflow_id: str,
        path: str,
        *,
        owner: str,
        ttl_ms: int = DEFAULT_TTL_MS,
        token: str | None = None,
        hint: tuple[str, str] | None = None,
    ) -> Lease | Refusal:
        """Lease a ready state. ``hint`` is (group, entry id) of the hint that led here: it is
        dropped whatever the answer is."""
        token = token or self._tokens()
        request: dict[str, Any] = {
            "path": path,
            "token": token,
            "owner": owner,
            "ttl": ttl_ms,
            "protocols": PROTOCOL,
            "pool": self.pool,
        }
        if hint is not None and not self.cluster:
            request["group"], request["hint"] = hint
        answer = await self.call("acquire", workflow_id, request)
        if hint is not None and self.cluster:
            await self._drop_hint(hint)
        if answer[0] != "ok":
            return Refusal(answer[0], tuple(str(part) for part in answer[1:-1]))
        document = StateDocument.parse(answer[3])
        return await self._lease(workflow_id, document, token, owner, ttl_ms, answer[4])

    async def held(self, workflow_id: str, path: str, token: str) -> Lease | Refusal:
        """The lease that ``token`` was given out with, made from the documents: any process can go
        on under it. Whether it is still in force says the script that writes.

        Refusal: ``unknown_run``, ``unknown_state``, or ``lease_lost`` when the state is not held
        with this token."""
        texts = await self.backend.command("JSON.MGET", *self._documents(workflow_id, path), ".")
        if texts[0] is None or texts[1] is None:
            return Refusal("unknown_run" if texts[0] is None else "unknown_state")
        document = StateDocument.parse(texts[1])
        lease = document.raw["ctl"].get("lease")
        digest = hashlib.sha1(token.encode(), usedforsecurity=False).hexdigest()
        if document.status != "running" or not lease:
            return Refusal("lease_lost")
        if not hmac.compare_digest(lease["token"], digest):
            return Refusal("lease_lost")
        incarnation = RunDocument.parse(texts[0]).incarnation
        owner, ttl_ms = lease["owner"], int(lease["ttl"])
        return await self._lease(workflow_id, document, token, owner, ttl_ms, incarnation)

    def _documents(self, workflow_id: str, path: str) -> tuple[str, str]:
        run_keys = self.keys(workflow_id)
        return run_keys.meta, run_keys.state(path)

    async def renew(
        self, lease: Lease, *, beat: bool = False, limits: Limits | None = None
    ) -> int | Refusal:
        """Extend ``lease`` by its time to live; the milliseconds it now lasts. ``beat`` says that
        the task itself showed progress (``HeartbeatSeconds`` counts from here). ``limits`` take the
        place of those that the state was entered with."""
        request = {**_holder(lease), "ttl": lease.ttl_ms, "beat": beat}
        if limits is not None:
            request["limits"] = limits.to_json()
        answer = await self.call("renew", lease.workflow_id, request)
        if answer[0] != "ok":
            return Refusal(answer[0])
        return int(answer[1]) - int(answer[2])

    async def release(self, lease: Lease) -> Refusal | None:
        """Give ``lease`` back unfinished; None when the state is ready again."""
        answer = await self.call("release", lease.workflow_id, _holder(lease))
        return None if answer[0] == "ok" else Refusal(answer[0])

    async def commit(
        self,
        lease: Lease,
        commit: Commit,
        *,
        commit_id: str,
        in_place: bool = False,
    ) -> Committed | Refusal:
        """Finish a step. The same ``commit_id`` (``new_id``) again gets the first answer. With
        ``in_place`` the one state that becomes ready is leased at once.

        Blobs are stored first, so that nothing committed refers to one that is missing. Raises
        BadDocument when the server refuses a document (permanent).
        """
        for part in _payloads(commit):
            if part.blob is not None:
                await self.put_blob(lease.workflow_id, part)
        if commit.question is not None:
            await self.list_approval(lease.workflow_id, lease.path)
        # Derived, so that a commit said twice asks for the same lease twice.
        next_token = payload.digest(f"{lease.token}/{commit_id}")[:32] if in_place else None
        request = {
            **_holder(lease),
            **self._limits,
            "visit": lease.visit,
            "commit_id": commit_id,
            "outcome": commit.outcome,
            "owner": lease.owner,
            "ttl": lease.ttl_ms,
            "next_token": next_token,
            "ends": commit.ends,
        }
        if commit.enter is not None:
            enter = commit.enter
            request["next"] = state_spec(enter.path, enter.type, enter.limits, enter.callback)
        if commit.wait is not None:
            request["wait"] = commit.wait.kind
            request["wait_until"] = commit.wait.until_ms
            request["delay"] = commit.wait.delay_ms
            request["retries"] = commit.wait.retries
        if commit.fan is not None:
            fan = commit.fan
            request["wait"] = "join"
            request["join"] = {"n": fan.n, "window": fan.window, "fail_limit": fan.fail_limit}
        answer = await self.call("commit", lease.workflow_id, request, *_texts(commit))
        if answer[0] == "bad_document":
            raise BadDocument(reason=answer[1])
        if answer[0] != "ok":
            return Refusal(answer[0], tuple(str(part) for part in answer[1:-1]))
        return Committed(
            await self._next_lease(lease, commit, next_token, answer),
            cast("RunStatus | None", answer[4] or None),
        )

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
        if content.blob is not None:
            await self.put_blob(workflow_id, content)
        request: dict[str, Any] = {"path": path, "visit": visit, "try": try_, "event": event}
        request["call"] = self.new_id()
        request["ask"] = ask
        texts = [payload.to_text(recorded)] if recorded is not None else []
        answer = await self.call("signal", workflow_id, request, content.stored, *texts)
        return self._refused(answer, workflow_id)

    async def beat(self, workflow_id: str, path: str, *, visit: int, try_: int) -> Refusal | None:
        """Whoever is to answer a state shows that it is alive: ``HeartbeatSeconds`` count anew.
        None when they do."""
        request = {"path": path, "visit": visit, "try": try_}
        return self._refused(await self.call("beat", workflow_id, request), workflow_id)

    async def _lease(
        self,
        workflow_id: str,
        document: StateDocument,
        token: str,
        owner: str,
        ttl_ms: int,
        incarnation: str,
    ) -> Lease:
        return Lease(
            workflow_id=workflow_id,
            path=document.path,
            token=token,
            fence=document.fence,
            owner=owner,
            ttl_ms=ttl_ms,
            type=document.type,
            kind=document.kind,
            visit=document.visit,
            try_=document.try_,
            round=document.round,
            incarnation=incarnation,
            input=await self.value(workflow_id, document.input),
            variables=await self.value(workflow_id, document.variables) or {},
            stored_variables=_reference(document.variables),
            limits=document.limits,
            event=document.event,
            event_payload=await self.value(workflow_id, document.event_payload),
            retries=document.retries,
            fan=document.fan,
            join_n=document.join.n if document.join else 0,
            join_failed=document.join.failed if document.join else 0,
            times=document.times,
            approval=document.approval,
            decision=(
                await self.value(workflow_id, document.event_payload) if document.answered else None
            ),
            given=document.raw.get("effective_input") if document.approval else None,
            asked_at=document.asked_at,
            calls=document.calls,
        )

    async def _next_lease(
        self, lease: Lease, commit: Commit, token: str | None, answer: list[Any]
    ) -> Lease | None:
        path = answer[1]
        if not path or token is None:
            return None
        if commit.enter is not None and path == commit.enter.path:
            entered = commit.enter
            return Lease(
                workflow_id=lease.workflow_id,
                path=path,
                token=token,
                fence=int(answer[2]),
                owner=lease.owner,
                ttl_ms=lease.ttl_ms,
                type=entered.type,
                kind="state",
                visit=int(answer[3]),
                try_=1,
                round=lease.round,
                incarnation=lease.incarnation,
                input=entered.value,
                variables=entered.own,
                stored_variables=_kept(entered.variables),
                limits=entered.limits,
                times={"entered": int(answer[5]), "started": int(answer[5]), "finished": None},
            )
        found = await self.states(lease.workflow_id, [path])
        document = replace(found[path], fence=int(answer[2]))
        return await self._lease(
            lease.workflow_id, document, token, lease.owner, lease.ttl_ms, lease.incarnation
        )


def _holder(lease: Lease) -> dict[str, Any]:
    return {"path": lease.path, "token": lease.token, "fence": lease.fence}


def _kept(content: Payload | None) -> Payload | None:
    """``content`` once it is stored: its blob is there."""
    return replace(content, blob=None) if content else None


def _reference(stored: JSON) -> Payload | None:
    """What a document refers to, to be referred to again; None where the value is inline."""
    sha256 = payload.blob_of(stored)
    return Payload(payload.to_text(stored), sha256, stored["size"]) if sha256 else None


def _texts(commit: Commit) -> list[str]:
    """What a commit says as the script takes it, "" for what it does not say; most say only the
    first few, and what is left out at the end costs nothing on the way."""
    enter, question = commit.enter, commit.question
    texts = [
        commit.output.to_text() if commit.output else "",
        enter.input.stored if enter else "",
        payload.to_text(commit.event),
        payload.to_text(commit.failure.to_json()) if commit.failure else "",
        payload.to_text(commit.metrics) if commit.metrics else "",
        commit.fan.fan.stored if commit.fan else "",
        commit.effective_input.stored if commit.effective_input else "",
        enter.variables.stored if enter and enter.variables else "",
        payload.to_text(question.record) if question else "",
        payload.to_text(commit.model_selection) if commit.model_selection else "",
    ]
    while not texts[-1]:
        texts.pop()
    return texts


def _payloads(commit: Commit) -> list[Payload]:
    parts = []
    if commit.output is not None:
        parts.append(commit.output.data)
    if commit.enter is not None:
        parts.append(commit.enter.input)
        if commit.enter.variables is not None:
            parts.append(commit.enter.variables)
    if commit.fan is not None:
        parts.append(commit.fan.fan)
    if commit.effective_input is not None:
        parts.append(commit.effective_input)
    if commit.question is not None:
        parts.extend(commit.question.parts)
    return parts
