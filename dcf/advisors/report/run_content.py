"""What a report says of one run."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.advisors.analysis import Analysis
from dcf.advisors.report.report import Section, Table
from dcf.advisors.report.wording import duration, moment, money, percent, short
from dcf.knowledge import Outcome, RunFact


def run_section(run: RunFact, outcomes: Sequence[Outcome], analysis: Analysis) -> Section:
    """The tasks of ``run`` beside what is usual for their types in the period."""
    usual = {track.task_type: track for track in analysis.task_types()}
    rows = []
    for one in outcomes:
        track = usual.get(one.task_type)
        times = track.duration_ms if track else None
        rows.append(
            (
                one.path,
                short(one.task_type),
                ", ".join(map(short, one.skills)) or "–",
                one.status if one.error is None else f"{one.status}: {one.error}",
                percent(track.counts.rate if track else None),
                str(one.tries),
                duration(one.duration_ms),
                duration(times.p50 if times else None),
                money(one.cost_usd),
            )
        )
    columns = (
        "state", "task type", "skills", "ended", "usual success", "tries", "took", "usual (p50)",
        "cost",
    )  # fmt: skip
    said = (
        f"{run.workflow_name} {run.status}, {moment(run.started_at)} to {moment(run.ended_at)} "
        f"({duration(run.duration_ms)})."
    )
    why = (f"{run.error}: {run.cause}",) if run.error else ()
    table = Table(columns, tuple(rows), (4, 5, 6, 7, 8)) if rows else None
    return Section(f"Run {run.workflow_id}", (said, *why), table)
