"""Leases of states: how they are taken, kept, given back and handed on."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from typing import Any

from control_plane import payload
from control_plane.documents import PROTOCOL, Limits, StateDocument
from control_plane.errors import MissingBlob
from control_plane.lease import DEFAULT_TTL_MS, Alone, Commit, Lease, Refusal
from control_plane.model_calls import ModelCalls
from control_plane.payload import JSON, Payload
from control_plane.run_document import RunDocument


class Leases(ModelCalls):
    """Who may write which state."""

    async def acquire(
        self,
        workflow_id: str,
        path: str,
        *,
        owner: str,
        ttl_ms: int = DEFAULT_TTL_MS,
        token: str | None = None,
        hint: tuple[str, str] | None = None,
        pool: str | None = None,
        alone: Alone | None = None,
    ) -> Lease | Refusal:
        """Lease a ready state. ``hint`` is (group, entry id) of the hint that led here: it is
        dropped whatever the answer is. ``pool`` is the one whose worker asks and in whose queue the
        hint is, without it the store's own. ``alone`` says that nothing else of which a worker died
        is worked on where this is: only so ``suspect`` states are leased."""
        if pool is not None and pool != self.pool:
            return await self.in_pool(pool).acquire(
                workflow_id,
                path,
                owner=owner,
                ttl_ms=ttl_ms,
                token=token,
                hint=hint,
                alone=alone,
            )
        token = token or self._tokens()
        request: dict[str, Any] = {
            "path": path,
            "token": token,
            "owner": owner,
            "ttl": ttl_ms,
            "protocols": PROTOCOL,
            "pool": self.pool,
        }
        if alone is not None:
            request["alone"] = alone
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
        request = {**lease.credentials, "ttl": lease.ttl_ms, "beat": beat}
        if limits is not None:
            request["limits"] = limits.to_json()
        answer = await self.call("renew", lease.workflow_id, request)
        if answer[0] != "ok":
            return Refusal(answer[0])
        return int(answer[1]) - int(answer[2])

    async def release(self, lease: Lease, *, died: str | None = None) -> Refusal | None:
        """Give ``lease`` back unfinished; None when the state is ready again. ``died`` tells how
        the process ended that worked under it alone: the death is counted, also when the lease has
        ended by itself since."""
        request = lease.credentials if died is None else {**lease.credentials, "died": died}
        answer = await self.call("release", lease.workflow_id, request)
        return None if answer[0] == "ok" else Refusal(answer[0])

    async def _lease(
        self,
        workflow_id: str,
        document: StateDocument,
        token: str,
        owner: str,
        ttl_ms: int,
        incarnation: str,
    ) -> Lease:
        """The lease of what ``document`` says. Values of it that cannot be read do not hide that it
        is leased."""
        given = event = damage = None
        variables: dict[str, JSON] = {}
        try:
            given = await self.value(workflow_id, document.input)
            variables = await self.value(workflow_id, document.variables) or {}
            event = await self.value(workflow_id, document.event_payload)
        except MissingBlob as error:
            damage = error
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
            input=given,
            variables=variables,
            stored_variables=_reference(document.variables),
            limits=document.limits,
            event=document.event,
            event_payload=event,
            retries=document.retries,
            fan=document.fan,
            join_n=document.join.n if document.join else 0,
            join_failed=document.join.failed if document.join else 0,
            times=document.times,
            approval=document.approval,
            decision=event if document.answered else None,
            given=document.raw.get("effective_input") if document.approval else None,
            asked_at=document.asked_at,
            calls=document.calls,
            takeovers=document.takeovers,
            damage=damage,
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
        if path not in found:  # the run was cancelled and removed meanwhile: nobody goes on with it
            return None
        document = replace(found[path], fence=int(answer[2]))
        return await self._lease(
            lease.workflow_id, document, token, lease.owner, lease.ttl_ms, lease.incarnation
        )


def _kept(content: Payload | None) -> Payload | None:
    """``content`` once it is stored: its blob is there."""
    return replace(content, blob=None) if content else None


def _reference(stored: JSON) -> Payload | None:
    """What a document refers to, to be referred to again; None where the value is inline."""
    sha256 = payload.blob_of(stored)
    return Payload(payload.to_text(stored), sha256, stored["size"]) if sha256 else None
