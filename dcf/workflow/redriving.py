"""Redrive: a run that failed, timed out or was cancelled goes on from where it broke.

What finished stays finished: states that failed or were cut off run once more, with a new visit and
a new try; the joins above them open again with the frames that are done.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from control_plane import StateDocument, Store, check_run, damage_is_told, frame_of
from dcf.workflow.earlier_runs import is_earlier_jsonata
from dcf.workflow.errors import NotRedrivable
from dcf.workflow.run import RunCache
from dcf.workflow.tally import is_earlier

_BROKEN = frozenset({"failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Redrive:
    """What runs again, and which joins and frames open again above it."""

    again: list[str]
    resume: list[str]


async def redrive(store: Store, workflow_id: str, *, by: str | None = None) -> Redrive:
    """Let the run go on, in the name of ``by``. Raises UnknownRun, NotRedrivable, and BrokenRun
    where a key of it is damaged, before anything is written."""
    async with damage_is_told(store, workflow_id):
        await check_run(store, workflow_id)
        return await _redrive(store, workflow_id, by)


async def _redrive(store: Store, workflow_id: str, by: str | None) -> Redrive:
    while True:
        run = await store.run(workflow_id)
        if not run.is_over or run.status == "succeeded":
            raise NotRedrivable(
                f"run {workflow_id} is {run.status}; only a run that failed, timed out or was "
                "cancelled can be redriven"
            )
        if run.removing:
            raise NotRedrivable(_removing(workflow_id))
        if await is_earlier_jsonata(store, run):
            raise NotRedrivable(
                f"run {workflow_id} was begun by an earlier version, whose JSONata says otherwise "
                "here and there: start it anew"
            )
        machine = (await RunCache(store).get(workflow_id, run.incarnation)).machine
        await store.close(workflow_id)
        paths = [path for path in await store.paths(workflow_id) if not is_earlier(path)]
        documents = await store.states(workflow_id, paths)
        plan = plan_redrive(documents)
        if not plan.again and not plan.resume:
            raise NotRedrivable(f"nothing in run {workflow_id} failed or was cut off")
        refusal = await store.redrive(
            workflow_id,
            again=plan.again,
            resume=plan.resume,
            unseal=[path for path, found in documents.items() if found.status == "skipped"],
            timeout_ms=int(machine.timeout_s * 1000) if machine.timeout_s is not None else None,
            # Somebody else may redrive it, and it may end again, while this plan is made.
            ended=run.finished_at,
            by=by,
        )
        if refusal is None:
            return plan
        if refusal.detail == ("removing",):
            raise NotRedrivable(_removing(workflow_id))
        if refusal.code != "interrupted":
            raise NotRedrivable(f"run {workflow_id} was redriven by somebody else just now")


def _removing(workflow_id: str) -> str:
    return f"run {workflow_id} is being removed: parts of it are gone already"


def plan_redrive(documents: dict[str, StateDocument]) -> Redrive:
    """What to do with the broken ``documents`` (current visits by path), outermost first."""
    again: list[str] = []
    resume: list[str] = []
    inside: dict[str, list[str]] = defaultdict(list)
    for path, document in documents.items():
        if document.kind == "state" and document.status in _BROKEN:
            inside[frame_of(path)].append(path)

    def visit_frame(frame: str, round_: int) -> bool:
        """Plan the states directly in ``frame``; whether any of them is broken."""
        broken = False
        for path in inside.get(frame, ()):
            document = documents[path]
            if document.round != round_:
                continue
            broken = True
            if document.join is None:
                again.append(path)
            else:
                resume.append(path)
                visit_join(path, document)
        return broken

    def visit_join(path: str, parent: StateDocument) -> None:
        join = parent.join
        for number in range(join.spawned if join else 0):
            frame = f"{path}[{number}]"
            ticket = documents.get(frame)
            if ticket is None or ticket.status not in _BROKEN:
                continue
            if visit_frame(frame, ticket.round):
                resume.append(frame)
            else:
                again.append(frame)

    visit_frame("", 0)
    return Redrive(again, resume)
