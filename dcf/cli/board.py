"""What a run looks like at one moment: a row for each state of the definition."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from control_plane import RunDocument, StateDocument, Store, encode_name
from dcf.cli.children import Children
from dcf.cli.wording import counted
from dcf.workflow import is_manual, question_of

WORTH_TELLING_S = 1.0
"""A state that waits longer than this for a worker tells it."""
_OVER = frozenset({"done", "failed", "cancelled", "skipped"})


@dataclass(frozen=True, slots=True)
class Row:
    """One state; ``children`` are those inside a Map or Parallel, named by path. ``detail`` says
    what ``status`` alone does not; ``seconds`` in all, from when it could be worked on to its end,
    so that a takeover or a retry does not begin anew."""

    name: str
    status: str
    detail: str = ""
    try_: int = 0
    holder: str = ""
    seconds: float | None = None
    error: str = ""
    children: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """A run with its rows in the order of the definition; ``seconds`` since it started;
    ``questions`` are what waits for a person, with the command that decides or shows it."""

    workflow_id: str
    name: str
    status: str
    rows: Sequence[Row]
    seconds: float | None
    questions: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        """How many states are done."""
        return sum(row.status == "done" for row in self.rows)


async def read_board(store: Store, workflow_id: str, inside: Children) -> Board:
    """The run now: its meta document, the states of its root frame, those that ``inside`` reads
    of its Maps and Parallels, and Redis's clock."""
    run = await store.run(workflow_id)
    documents = await store.states(workflow_id, root_paths(run))
    joins = [path for path, one in documents.items() if one.join and one.status == "waiting"]
    children = await inside.read(store, workflow_id, joins)
    return build_board(run, documents, await now_ms(store), children)


def with_holders(board: Board, holders: Mapping[str, str]) -> Board:
    """The board with who worked on each state (``holders`` by path) where nobody does now."""
    rows = [
        row if row.holder or row.status not in ("done", "failed")
        else replace(row, holder=holders.get(encode_name(row.name), ""))
        for row in board.rows
    ]  # fmt: skip
    return replace(board, rows=rows)


async def now_ms(store: Store) -> int:
    """Redis's clock, which all times of a run are of."""
    seconds, micros = await store.backend.command("TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def root_paths(run: RunDocument) -> list[str]:
    """The paths of the states in the root frame, in the order of the definition."""
    return [encode_name(name) for name in run.raw["states"]]


def build_board(
    run: RunDocument,
    documents: Mapping[str, StateDocument],
    now: int,
    children: Mapping[str, StateDocument] = MappingProxyType({}),
) -> Board:
    """The board of ``documents`` and of ``children`` inside them (by path) at ``now`` (ms)."""
    inner: dict[str, list[Row]] = defaultdict(list)
    for path, document in children.items():
        inner[path.partition("[")[0]].append(_row(path, document, now))
    rows = [
        replace(_row(name, documents[path], now), children=tuple(inner[path]))
        if path in documents
        else Row(name, "pending")
        for name, path in zip(run.raw["states"], root_paths(run), strict=True)
    ]
    seconds = _between(run.started_at, run.finished_at or now)
    found = [*documents.values(), *children.values()]
    questions = tuple(filter(None, (_question(run.workflow_id, one) for one in found)))
    return Board(run.workflow_id, run.name, run.status, rows, seconds, questions)


def _row(name: str, document: StateDocument, now: int) -> Row:
    entered = document.times.get("entered")
    ended = document.times.get("finished") or (None if document.status in _OVER else now)
    return Row(
        name=name,
        status=document.status,
        detail=", ".join(_details(document, now)),
        try_=document.try_,
        holder=document.holder.owner if document.holder else "",
        seconds=_between(entered, ended),
        error=_error(document),
    )


def _details(document: StateDocument, now: int) -> list[str]:
    details = []
    queued = queued_s(document, now) or 0.0
    if queued >= WORTH_TELLING_S:
        details.append(f"{queued:.1f} s in the queue")
    if document.visit > 1:
        details.append(f"visit {document.visit}")
    if document.join is not None:
        join = document.join
        details.append(f"{join.finished - join.failed}/{join.n} done")
        if join.failed:
            details.append(f"{join.failed} failed")
    if document.status == "waiting" and document.wait in ("timer", "retry"):
        word = "retry" if document.wait == "retry" else "goes on"
        left = ((document.wait_until or now) - now) / 1000
        details.append(f"{word} in {max(left, 0):.1f} s")
    elif document.status == "waiting" and document.wait == "callback":
        details.append("waits for an answer")
    elif document.status == "waiting" and document.wait == "approval":
        details.append("waits for a person" if is_manual(document) else "waits for approval")
    return [*details, *losses(document)]


def losses(document: StateDocument) -> list[str]:
    """How often the state was taken over from whoever went silent, and how many workers died over
    it, as far as deaths are charged to it."""
    said = [f"taken over {document.takeovers}x"] if document.takeovers else []
    if document.deaths:
        said.append(f"{counted(document.deaths, 'worker', 'workers')} died with it")
    return said


def queued_s(document: StateDocument, now: int) -> float | None:
    """How long a state waited, or waits, for its first worker, in seconds. None where nobody can
    tell: of several times that it was taken, only the last is on record."""
    entered, started = document.times.get("entered"), document.times.get("started")
    if entered is None or document.attempts > 1 or document.takeovers or document.kind != "state":
        return None
    if document.attempts == 0:
        return _between(entered, now) if document.status == "ready" else None
    return _between(entered, started)


def _question(workflow_id: str, document: StateDocument) -> str:
    """What waits for a person, and the command for them; "" where nothing does."""
    if document.status != "waiting" or document.wait != "approval" or document.approval is None:
        return ""
    request = document.approval["request"]
    if is_manual(document):
        command = f"dcf tasks show {workflow_id} {shlex.quote(document.path)}"
        return f"{document.path} waits for {request['approver']} to do it: {command}"
    tool = ":".join(filter(None, (request["server_id"], request["tool_name"])))
    named = f" --as {shlex.quote(request['people'][0])}" if request["people"] else ""
    return (
        f"{document.path} waits for {request['approver']} to approve {tool}: "
        f"dcf approve {workflow_id} {shlex.quote(document.path)}{named} "
        f"--digest {request['digest']} --question {question_of(document)}"
    )


def _error(document: StateDocument) -> str:
    if document.error is None or document.status == "done":
        return ""
    return str(document.error)


def _between(start: Any, end: Any) -> float | None:
    return None if start is None or end is None else max(0.0, (end - start) / 1000)
