"""``dcf plans``."""

from __future__ import annotations

from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.planner.desk import open_plannings
from dcf.planner import Planning


def list_plans(limit: int) -> Answer:
    """The newest ``limit`` plannings of this folder."""
    found, damaged = open_plannings().all()
    rows = [_row(one) for one in found[:limit]]
    show = [_table(rows)] if rows else ['No plannings yet: `dcf plan "objective"` begins one.']
    warnings = [str(one) for one in damaged]
    return Answer({"plannings": rows, "warnings": warnings}, [*show, *warnings])


def _row(one: Planning) -> dict[str, str | int | None]:
    at = datetime.fromtimestamp(one.updated_at / 1000, UTC)
    return {
        "planning_id": one.id,
        "status": one.status,
        "objective": one.objective,
        "workflow_id": one.workflow_id if one.approval else None,
        "run": (one.run or {}).get("status"),
        "revision": one.revision,
        "updated_at": at.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def _table(rows: list[dict[str, str | int | None]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("planning_id", "status", "run", "updated_at", "objective"):
        table.add_column(name.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(
            *(Text(str(row[n] or "")) for n in ("planning_id", "status", "run", "updated_at")),
            Text(str(row["objective"])),
        )
    return table
