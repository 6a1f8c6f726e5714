"""Typed client of the control plane: the steps that end a lease, and everything else by
inheritance."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, cast

from control_plane import commit_texts, payload
from control_plane.answers import Answers
from control_plane.backend import Backend
from control_plane.documents import RunStatus
from control_plane.errors import BadDocument
from control_plane.lease import Commit, Committed, Lease, Refusal

STEPS_LIMIT = 1_000_000
EVENTS_LIMIT = 500_000


class Store(Answers):
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
        stored = [part for part in commit_texts.payloads(commit) if part.blob is not None]
        if commit.question is not None:
            await self.list_approval(lease.workflow_id, lease.path)
        # Derived, so that a commit said twice asks for the same lease twice.
        next_token = payload.digest(f"{lease.token}/{commit_id}")[:32] if in_place else None
        request = {
            **lease.credentials,
            **self._limits,
            "visit": lease.visit,
            "commit_id": commit_id,
            "owner": lease.owner,
            "ttl": lease.ttl_ms,
            "next_token": next_token,
            "blobs": [part.digest for part in stored] or None,
            **commit_texts.terms(commit),
        }
        texts = commit_texts.texts(commit)

        def call() -> Coroutine[Any, Any, list[Any]]:
            return self.call("commit", lease.workflow_id, request, *texts)

        answer = await (self.with_blobs(lease.workflow_id, stored, call) if stored else call())
        if answer[0] == "bad_document":
            raise BadDocument(reason=answer[1])
        if answer[0] != "ok":
            return Refusal(answer[0], tuple(str(part) for part in answer[1:-1]))
        return Committed(
            await self._next_lease(lease, commit, next_token, answer),
            cast("RunStatus | None", answer[4] or None),
            commit.wait.due_in_ms(int(answer[5])) if commit.wait else None,
        )
