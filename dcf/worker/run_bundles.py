"""What an agent that does a Task is told of its project, where the Task asks for a context."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.citation import Citation
from dcf.context_form import FILE_KINDS, Kind, told_entry
from dcf.memory import SYSTEM, Memory, random_id
from dcf.problem import ProblemError
from dcf.retrieval import (
    NOT_PERMITTED,
    SHARES,
    Answered,
    AuditLog,
    BackendSetting,
    Caller,
    CodeRetrievers,
    ContextQuestion,
    FactRetriever,
    Lifetimes,
    ObservationRetriever,
    PlaybookRetriever,
    Retrieval,
    Share,
    Stores,
    ThreadRetriever,
    limit_of,
)

if TYPE_CHECKING:
    from dcf.asl import ContextPolicy
    from dcf.skills import Manifest
    from dcf.workflow import Task

log = logging.getLogger(__name__)

_PATIENCE_S = 10.0
"""How long a Task waits for its context."""
_NAMED = 20
"""The most files that an event names."""


@dataclass(frozen=True, slots=True)
class RunBundle:
    """``text`` is what a model is told (may be empty), ``event`` what the history says of it,
    ``observations`` the ids of those that are told."""

    text: str
    event: dict[str, Any]
    observations: tuple[str, ...] = ()


class RunBundles:
    """Contexts from ``memory``, the files of the folder ``project`` and ``facts`` of its graph, for
    its Tasks, in which each kind has its share; of what was logged and of documents, those that
    ``backend`` keeps, items as long as ``lifetimes`` say. ``home`` is the folder that has indexes
    of code, and what the backend file keeps where nobody names another. The ``audit``,
    if there is one, has what is told."""

    def __init__(
        self,
        memory: Memory,
        home: Path,
        project: str,
        facts: FactRetriever | None = None,
        shares: Mapping[Kind, Share] = SHARES,
        backend: BackendSetting | None = None,
        lifetimes: Lifetimes | None = None,
        audit: AuditLog | None = None,
    ) -> None:
        self._memory = memory
        self._home = home
        self._project = project
        self._facts = facts
        self._shares = shares
        self._backend = backend or BackendSetting()
        self._lifetimes = lifetimes
        self._audit = audit
        self._code: CodeRetrievers | None = None
        self._stores: Stores | None = None
        self._opened = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def of(
        self,
        task: Task,
        policy: ContextPolicy,
        skills: Sequence[Manifest],
        without: Collection[Kind] = (),
    ) -> RunBundle | None:
        """What ``policy`` asks for, of all kinds but those in ``without``: of files that one of
        ``skills`` permits, of observations those of the Task's workflow. None where it cannot be
        found or takes too long: that keeps no Task from its work."""
        files = sorted({path for skill in skills for path in skill.permissions.files})
        kinds = [kind for kind in policy.kinds if kind not in without]
        unseen = [kind for kind in kinds if kind in FILE_KINDS and not files]
        kinds = [kind for kind in kinds if kind not in unseen]
        warnings = [_no_permission(unseen)] if unseen else []
        if not kinds:
            return RunBundle("", _event(policy, None, warnings))
        state = task.state
        question = ContextQuestion(
            self._project,
            policy.question(state.name, state.comment, task.arguments),
            limit=limit_of(None, policy.budget),
            budget=policy.budget,
            kinds=kinds,
            files=files,
            workflow=task.run.name,
        )
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answered = await (await self._retrieval()).context(question, _caller(task))
        except (ProblemError, TimeoutError) as problem:
            why = str(problem) or f"nothing was found within {_PATIENCE_S:.0f} s"
            log.warning("%s is done without what fits it: %s", task.lease.path, why)
            return None
        warnings += (one.with_hint for one in answered.problems)
        observations = (
            str(one.candidate.about["id"])
            for one in answered.found
            if one.candidate.kind == "observation"
        )
        text = "\n\n".join(_told(answered))
        return RunBundle(text, _event(policy, answered, warnings), tuple(observations))

    async def close(self) -> None:
        """End what goes on behind answers."""
        if self._code is not None:
            await self._code.close()
        if self._audit is not None:
            await self._audit.close()
        await self._opened.aclose()

    async def _retrieval(self) -> Retrieval:
        memory = self._memory
        embedder = await memory.search.embedder()
        if self._code is None:
            self._code = CodeRetrievers(self._home / "code", embedder)
        stores = await self._kept()
        return Retrieval(
            stores.items,
            self._code,
            memory.ledger.clock,
            documents=stores.documents,
            observations=ObservationRetriever(memory),
            threads=ThreadRetriever(memory),
            playbooks=PlaybookRetriever(memory),
            facts=self._facts,
            shares=self._shares,
            audit=self._audit,
        )

    async def _kept(self) -> Stores:
        # Of the backend memory only a service knows anything.
        if self._backend.backend in ("sqlite", "memory"):
            return Stores.of_memory(self._memory, SYSTEM, self._lifetimes)
        async with self._opening:
            if self._stores is None:
                clock = self._memory.ledger.clock
                embedder = await self._memory.search.embedder()
                opening = Stores.open(
                    *(self._backend, self._home / "items", clock, random_id),
                    lifetimes=self._lifetimes,
                    embedder=embedder,
                )
                self._stores = await self._opened.enter_async_context(opening)
            return self._stores


def _caller(task: Task) -> Caller:
    """Who reads, for the audit: the state of a run."""
    lease = task.lease
    return Caller(str(Citation("run", lease.workflow_id, "state", lease.path)))


def _told(answered: Answered) -> Iterator[str]:
    """Each text under its address."""
    for one in answered.found:
        yield told_entry(f"## {one.candidate.heading}", one.candidate.text)


def _event(
    policy: ContextPolicy, answered: Answered | None, warnings: Sequence[str]
) -> dict[str, Any]:
    bundle = answered.bundle if answered else None
    parts = bundle.parts if bundle else {}
    left_out = answered.left_out if answered else ()
    refused = (one.candidate for one in left_out if one.left_out == NOT_PERMITTED)
    paths = sorted({str(one.about["file_path"]) for one in refused})
    return {
        "type": "BundleGiven",
        "budget": policy.budget,
        "tokens": bundle.used if bundle else 0,
        "kinds": {
            kind: {"told": part.taken, "tokens": part.used, "left_out": part.left_out}
            for kind, part in parts.items()
            if part.taken or part.left_out
        },
        "citations": [one.candidate.citation for one in (bundle.found if bundle else ())],
        "left_out": len(left_out),
        **({"not_permitted": paths[:_NAMED]} if paths else {}),
        **({"warnings": list(warnings)} if warnings else {}),
    }


def _no_permission(kinds: Sequence[Kind]) -> str:
    return (
        f"{' and '.join(kinds)} left out: none of the loaded skills names files of the project in"
        " `permissions.files`"
    )
