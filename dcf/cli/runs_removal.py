"""``dcf runs remove``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from control_plane import (
    BrokenRun,
    ControlPlaneError,
    Disconnected,
    RefusedForGood,
    RunDocument,
    RunStatus,
    Store,
    check_workflow_id,
    damage_is_told,
    names_found,
    remove_broken,
    run_lists,
    space_of,
    space_of_keys,
    what_is_broken,
)
from control_plane.embedded import ServerUnusable
from dcf.age_form import read_age
from dcf.cli.age import OVER
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.memory.opening import opened, person, source_in
from dcf.cli.memory.wording import size_text
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Progress, Screen
from dcf.cli.settings import Settings, graph_mode
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.memory import MemoryProblem, project_of_runs
from dcf.problem import Problem
from dcf.worker import Kept, RunMemory, remove_run, why_kept

_TOGETHER = 500
_LISTED = 20
"""Most runs of one kind that people are shown; --json has all."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Runs by ``ids``, or all of ``statuses`` that ended ``age_ms`` ago or earlier; of the ``ids``
    also those whose document is broken, where ``broken`` is True."""

    ids: Sequence[str]
    broken: bool = False
    age_ms: int = 0
    statuses: Sequence[RunStatus] = OVER


@dataclass(frozen=True, slots=True)
class _Gone:
    """A run that went or would go, with its size in bytes (None where it was not asked). Of a
    ``broken`` one, which says what is wrong with it, the status is not known."""

    workflow_id: str
    status: RunStatus | None
    size: int | None = None
    broken: str = ""

    def to_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"workflow_id": self.workflow_id, "run_status": self.status}
        said |= {"broken": self.broken} if self.broken else {}
        return said | ({"bytes": self.size} if self.size is not None else {})


@dataclass(frozen=True, slots=True)
class _Refused:
    """A run that cannot be removed, or of which nobody can tell whether it may be."""

    workflow_id: str
    code: str
    why: str
    hint: str

    def to_json(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in ("workflow_id", "code", "why", "hint")}


@dataclass(slots=True)
class _Report:
    """What went or would go, what is kept, and what cannot go; of the ``memory`` too, unless that
    stays.
    ``undelivered`` of those that would go are to be written to the graph first."""

    memory: RunMemory | None = None
    gone: list[_Gone] = field(default_factory=list)
    kept: list[tuple[RunDocument, Kept]] = field(default_factory=list)
    refused: list[_Refused] = field(default_factory=list)
    undelivered: int = 0

    @property
    def size(self) -> int:
        return sum(one.size or 0 for one in self.gone)


def named(ids: Sequence[str], *, broken: bool) -> Choice:
    """The choice of the runs ``ids``. Raises BadName."""
    return Choice([check_workflow_id(workflow_id) for workflow_id in ids], broken)


def choice_of(before: str, statuses: Sequence[str]) -> Choice:
    """The choice that ``--before`` and ``--status`` make. Raises BadInput with all that is wrong
    in them."""
    problems: list[Problem] = []
    age_ms = read_age(before)
    if age_ms is None:
        message = f"{before!r} is not a length of time"
        hint = "a whole number and m, h, d or w, as in 30d"
        problems.append(Problem("CLI_AGE", message, hint=hint, file="--before"))
    for status in statuses:
        if status not in OVER:
            message = f"{status!r} is not a status of a finished run"
            hint = f"one of {', '.join(OVER)}"
            problems.append(Problem("CLI_STATUSOVER", message, hint=hint, file="--status"))
    if problems:
        raise BadInput(problems)
    wanted = cast("Sequence[RunStatus]", [*dict.fromkeys(statuses)])
    return Choice((), age_ms=age_ms or 0, statuses=wanted or OVER)


async def remove_runs(
    choice: Choice, settings: Settings, screen: Screen, *, dry_run: bool, keep_memory: bool
) -> Answer:
    """Remove the chosen runs with their nodes of the memory, unless ``keep_memory``, or with
    ``dry_run`` say what would go. What is only kept because the graph does not have it yet is
    written there first. Raises UnknownRun, BrokenRun unless those are chosen, and a MemoryProblem
    where the memory cannot be opened, before anything is removed."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store, _memory(settings, keep=keep_memory) as memory:
        report = _Report(memory)
        with screen.working("looking for runs …") as progress:
            async for run in _chosen(store, choice):
                if isinstance(run, BrokenRun):
                    await _remove_broken(store, run, report, dry_run=dry_run)
                else:
                    await (_look_at if dry_run else _remove)(store, run, report)
                _tell(progress, report, choice, dry_run=dry_run)
        waiting = [run.workflow_id for run, kept in report.kept if kept.undelivered]
        if waiting and not dry_run and await _deliver(settings, screen):
            report.kept = [(run, kept) for run, kept in report.kept if not kept.undelivered]
            with screen.working("removing …") as progress:
                for at in range(0, len(waiting), _TOGETHER):
                    for run in await store.run_many(waiting[at : at + _TOGETHER]):
                        await _remove(store, run, report)
                        _tell(progress, report, choice, dry_run=dry_run)
    stays = _stays(settings) if report.gone and not dry_run else []
    return _answer(report, choice, stays, dry_run=dry_run)


def _stays(settings: Settings) -> list[str]:
    """What is left of runs that were removed."""
    graph = "The graph keeps what it was told of them"
    if graph_mode(settings.env) == "off":
        graph = "DCF_GRAPH=off: the graph was told nothing of them now, and keeps what it had"
    return [f"{graph}; sessions keep their tasks without the results; files stay."]


async def _look_at(store: Store, run: RunDocument, report: _Report) -> None:
    async with _refusal_is_noted(store, run.workflow_id, report):
        kept = await why_kept(store, run)
        if kept is not None and not kept.undelivered:
            report.kept.append((run, kept))
            return
        size = await space_of(store, run.workflow_id)
        report.undelivered += kept is not None
        if report.memory is not None:
            tree = await report.memory.tree(run)
            report.memory.nodes += len(tree)
            report.memory.entries += sum(one.entries for one in tree)
        report.gone.append(_Gone(run.workflow_id, run.status, size))


async def _remove(store: Store, run: RunDocument, report: _Report) -> None:
    async with _refusal_is_noted(store, run.workflow_id, report):
        await _remove_whole(store, run, report)


@asynccontextmanager
async def _refusal_is_noted(store: Store, workflow_id: str, report: _Report) -> AsyncIterator[None]:
    """One that cannot be removed keeps no other from going."""
    try:
        async with damage_is_told(store, workflow_id):
            yield
    except (Disconnected, RefusedForGood):
        raise
    except MemoryProblem as error:
        hint = f"{error.hint}; --keep-memory removes the run all the same".removeprefix("; ")
        report.refused.append(_Refused(workflow_id, error.code, str(error), hint))
    except ControlPlaneError as error:
        hint = error.hint if isinstance(error, BrokenRun) else str(error.fields.get("hint", ""))
        report.refused.append(_Refused(workflow_id, error.code, str(error), hint))


async def _remove_whole(store: Store, run: RunDocument, report: _Report) -> None:
    kept = await remove_run(store, run, report.memory)
    if kept is None:
        report.gone.append(_Gone(run.workflow_id, run.status))
    else:
        report.kept.append((run, kept))


async def _remove_broken(store: Store, error: BrokenRun, report: _Report, *, dry_run: bool) -> None:
    workflow_id, why = str(error.fields["workflow_id"]), str(error.fields["why"])
    size = None
    async with _refusal_is_noted(store, workflow_id, report):
        if dry_run:
            size = await space_of_keys(store, await names_found(store, workflow_id))
        elif not await remove_broken(store, workflow_id):
            # Somebody mended it meanwhile.
            await _remove_whole(store, await store.run(workflow_id), report)
            return
        report.gone.append(_Gone(workflow_id, None, size, why))


@asynccontextmanager
async def _memory(settings: Settings, *, keep: bool) -> AsyncIterator[RunMemory | None]:
    """The memory of runs here, as far as there is one that is not to be kept. Raises a
    MemoryProblem."""
    if keep or not source_in(settings).path.exists():
        yield None
        return
    async with opened(settings) as memory:
        by = person("told by `dcf runs remove`")
        yield RunMemory(memory, project_of_runs(settings.generated), by)


async def _deliver(settings: Settings, screen: Screen) -> bool:
    """Write what waits to the graph, started if need be; whether that was possible."""
    from dcf.cli.graph.access import open_graph
    from dcf.knowledge import KnowledgeError

    try:
        async with open_graph(settings, screen):
            return True
    except (KnowledgeError, ServerUnusable) as error:
        screen.warn(f"the runs cannot be written to the graph first: {error}")
        return False


async def _chosen(store: Store, choice: Choice) -> AsyncIterator[RunDocument | BrokenRun]:
    if choice.ids:
        for one in [await _named(store, workflow_id, choice) for workflow_id in choice.ids]:
            yield one
        return
    before_ms = await store.now_ms() - choice.age_ms
    async for page in run_lists.ended_runs(store, before_ms, choice.statuses):
        for run in page:
            yield run


async def _named(store: Store, workflow_id: str, choice: Choice) -> RunDocument | BrokenRun:
    if choice.broken and (why := await what_is_broken(store, workflow_id)):
        return BrokenRun(workflow_id=workflow_id, why=why)
    async with damage_is_told(store, workflow_id):
        return await store.run(workflow_id)


def _tell(progress: Progress, report: _Report, choice: Choice, *, dry_run: bool) -> None:
    done = len(report.gone) + len(report.kept) + len(report.refused)
    of = f" of {len(choice.ids):,}" if choice.ids else ""
    progress.tell(f"{'looked at' if dry_run else 'removed'} {done:,}{of} runs …")


def _answer(report: _Report, choice: Choice, stays: list[str], *, dry_run: bool) -> Answer:
    fields: dict[str, Any] = {
        "dry_run": dry_run,
        "removed": [one.to_json() for one in report.gone],
        "kept": [
            {"workflow_id": run.workflow_id, "code": kept.code, "why": kept.why, "hint": kept.hint}
            for run, kept in report.kept
        ],
        "refused": [one.to_json() for one in report.refused],
    }
    if report.memory is not None:
        fields["memory"] = {"nodes": report.memory.nodes, "entries": report.memory.entries}
    if dry_run:
        fields |= {"bytes": report.size, "to_graph_first": report.undelivered}
    show = [*_shown(report, dry_run=dry_run), *_forgotten(report, dry_run=dry_run), *stays]
    if report.refused:
        return _refusal(report, fields, [*show, *_kept(report)])
    if not (choice.ids and report.kept):
        return Answer(fields, [*show, *_kept(report)])
    # Each was meant: that one stays is no success.
    run, kept = report.kept[0]
    count = len(report.kept)
    more = f", and {counted(count - 1, 'other is', 'others are')} kept" if count > 1 else ""
    message = f"run {run.workflow_id} {kept.why}{more}"
    note = ErrorNote(kept.code, message, kept.hint, tuple(_kept(report)[1:] if more else ()))
    return Answer(fields, show, status="error", error=note, exit_code=FAILED)


def _refusal(report: _Report, fields: dict[str, Any], show: list[str]) -> Answer:
    """That a run cannot be removed is no success, whether it was named or not."""
    count = counted(len(report.refused), "run", "runs")
    lines = [f"  {one.workflow_id}: {one.why} ({one.hint})" for one in report.refused[:_LISTED]]
    details = (*lines, *_rest(report.refused))
    note = ErrorNote(report.refused[0].code, f"{count} cannot be removed", "", details)
    return Answer(fields, show, status="error", error=note, exit_code=FAILED)


def _shown(report: _Report, *, dry_run: bool) -> list[str]:
    count = counted(len(report.gone), "run", "runs")
    if not dry_run:
        broken = [one for one in report.gone if one.broken]
        lines = [f"  {one.workflow_id} was broken: {one.broken}" for one in broken[:_LISTED]]
        return [f"{count} removed.", *lines, *_rest(broken)]
    lines = [
        f"  {one.workflow_id}  {one.status or f'broken: {one.broken}'}  {size_text(one.size or 0)}"
        for one in report.gone[:_LISTED]
    ]
    first = f" {report.undelivered:,} of them would be written to the graph first."
    total = (
        f"{count} would go, {size_text(report.size)} in all.{first if report.undelivered else ''}"
    )
    return [total, *lines, *_rest(report.gone)]


def _forgotten(report: _Report, *, dry_run: bool) -> list[str]:
    memory = report.memory
    if memory is None or not memory.nodes:
        return []
    nodes = counted(memory.nodes, "node", "nodes")
    what = f"{nodes} with {counted(memory.entries, 'entry', 'entries')}"
    if dry_run:
        return [f"Their memory would go too: {what}."]
    return [f"Their memory too: {what}; `dcf memory history` has them."]


def _kept(report: _Report) -> list[str]:
    if not report.kept:
        return []
    lines = [f"  {run.workflow_id} {kept.why} ({kept.hint})" for run, kept in report.kept[:_LISTED]]
    return [f"{counted(len(report.kept), 'run is', 'runs are')} kept:", *lines, *_rest(report.kept)]


def _rest(found: Sequence[object]) -> list[str]:
    left = len(found) - _LISTED
    return [f"  … and {left:,} more; --json has all"] if left > 0 else []
