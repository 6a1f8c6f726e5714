"""``dcf runs``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast, get_args

from rich.table import Table
from rich.text import Text

from control_plane import RunDocument, RunStatus, run_lists
from dcf.cli.answer import Answer
from dcf.cli.board import now_ms, root_paths
from dcf.cli.board_table import seconds_text, status_text
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.problem import Problem
from dcf.workflow import iso


@dataclass(frozen=True, slots=True)
class Line:
    """One run of the list; states are those of the definition's root frame."""

    run: RunDocument
    done: int
    total: int
    seconds: float | None

    def to_json(self) -> dict[str, Any]:
        run = self.run
        return {
            "workflow_id": run.workflow_id,
            "workflow_name": run.name,
            "status": run.status,
            "started_at": iso(run.started_at) if run.started_at else None,
            "finished_at": iso(run.finished_at) if run.finished_at else None,
            "duration_s": self.seconds,
            "states_done": self.done,
            "states_total": self.total,
            "error": run.error.to_json() if run.error else None,
        }


async def list_runs(
    settings: Settings, screen: Screen, limit: int, status: str | None, after: str | None
) -> Answer:
    """The newest ``limit`` runs, of one ``status`` and ``after`` a run if that is given."""
    known = get_args(RunStatus)
    if status is not None and status not in known:
        hint = f"one of {', '.join(known)}"
        raise BadInput([Problem("CLI_STATUS", f"no run is {status!r}", hint=hint, file="--status")])
    address = await find_redis(settings, screen)
    # Who looks while Redis takes no writes does not wait until the lists can be mended.
    async with open_store(address) as store, open_store(address, patient=False) as writer:
        wanted = cast(RunStatus | None, status)
        page = await run_lists.list_runs(store, limit, status=wanted, after=after, writer=writer)
        paths = {run.workflow_id: root_paths(run) for run in page.runs}
        done = await store.count_done(paths)
        now = await now_ms(store)
    lines = [
        Line(run, done[run.workflow_id], len(paths[run.workflow_id]), _seconds(run, now))
        for run in page.runs
    ]
    for error in page.broken:
        screen.warn(f"left out: {error} ({error.hint})")
    if page.refused is not None:
        screen.warn(f"{page.refused}; runs may be missing from this list")
    fields = {
        "runs": [line.to_json() for line in lines],
        "next_after": page.next_after,
        "refused": None if page.refused is None else str(page.refused),
        "left_out": [
            {"workflow_id": error.fields["workflow_id"], "why": error.fields["why"]}
            for error in page.broken
        ],
    }
    return Answer(fields, _shown(lines, status, after, page.next_after))


def _seconds(run: RunDocument, now: int) -> float | None:
    """How long a run took, or takes by now."""
    return None if run.started_at is None else ((run.finished_at or now) - run.started_at) / 1000


def _shown(
    lines: list[Line], status: str | None, after: str | None, next_after: str | None
) -> list[Any]:
    if not lines and after:
        return ["No more runs."]
    if not lines and status is not None:
        return [f"No run has the status {status}."]
    if not lines:
        return ["No runs yet: `dcf run FILE` makes one."]
    more = [f"There are more: --after {lines[-1].run.workflow_id}"] if next_after else []
    return [_table(lines), *more]


def _table(lines: list[Line]) -> Table:
    table = Table()
    for heading in ("id", "workflow", "status", "started", "duration", "states", "error"):
        right = heading in ("duration", "states")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for line in lines:
        run = line.run
        table.add_row(
            Text(run.workflow_id),
            Text(run.name),
            status_text(run.status),
            _local(run.started_at),
            seconds_text(line.seconds),
            f"{line.done}/{line.total}",
            Text((run.error.error or "") if run.error else "", "red"),
        )
    return table


def _local(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
