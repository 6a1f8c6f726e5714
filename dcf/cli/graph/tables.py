"""Answers that are lists, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.graph.wording import bar, few, moment, share, sureness
from dcf.cli.wording import counted
from dcf.knowledge import InsightFact
from dcf.knowledge.asking import Alike, Crossed, Overview, Ranked


def ranking_table(found: Sequence[Ranked]) -> list[Any]:
    """Versions by kind of task."""
    if not found:
        return ["Nothing is measured of this yet."]
    lines: list[Any] = []
    for task in dict.fromkeys(one.task_type for one in found):
        versions = [one for one in found if one.task_type == task]
        lines += [Text(task, "bold"), *_ranked(versions)]
    return [
        *lines,
        "best: how probable it is that no other version succeeds more at this task.",
        "Order: what is expected now, as the planner chooses; newer outcomes count more.",
    ]


def _ranked(versions: Sequence[Ranked]) -> list[Text]:
    """Versions of one kind of task, each above its numbers: beside them a narrow screen has no
    room for its name."""
    width = max(len(share(one.counts)) for one in versions)
    lines: list[Text] = []
    for one in versions:
        best = f"best {100 * one.best:.0f} %" if len(versions) > 1 else "only one"
        measured = f"{share(one.counts):<{width}}  {bar(one.counts)}  {best}"
        lines += [
            Text(f"  {one.version}"),
            Text(f"    {measured}, mean {one.mean_ms / 1000:.1f} s"),
            Text(f"    {_expected(one)}; runs {few(one.runs)}", "dim"),
        ]
    return lines


def _expected(one: Ranked) -> str:
    # Of sums by the day it is known no better.
    since = f" since {moment(one.changed_at)[:10]}" if one.changed_at else ""
    return f"expected {100 * one.expected:.0f} %{since}"


def crossing_table(found: Sequence[Crossed]) -> list[Any]:
    """Outcomes by dimensions."""
    if not found:
        return ["No outcome is like that."]
    names = list(found[0].values)
    rows = table(*names, "succeeded", "0 … 1", "mean", "last", "failed in")
    for one in found:
        rows.add_row(
            *values_of(one.values),
            share(one.counts),
            bar(one.counts),
            f"{one.mean_ms / 1000:.1f} s",
            moment(one.last_at),
            few(one.failed_runs),
        )
    return [rows]


def runs_table(found: Sequence[Crossed]) -> list[Any]:
    """Runs by dimensions, with how many there are in all."""
    if not found:
        return ["No run is like that."]
    n, ok = sum(one.counts.n for one in found), sum(one.counts.successes for one in found)
    names = list(found[0].values)
    rows = table(*names, "runs", "failed", "mean", "last", "failed in")
    for one in found:
        rows.add_row(
            *values_of(one.values),
            f"{one.counts.n:,}",
            f"{one.counts.failures:,}",
            f"{one.mean_ms / 1000:.1f} s",
            moment(one.last_at),
            few(one.failed_runs),
        )
    return [f"{counted(n, 'run', 'runs')}: {ok:,} succeeded, {n - ok:,} did not.", rows]


def costs_table(found: Sequence[Crossed]) -> list[Any]:
    """What was spent by dimensions, and together where nothing counts twice."""
    if not found:
        return ["No outcome is like that."]
    names = list(found[0].values)
    rows = table(*names, "cost", "outcomes", "with a price", "last")
    for one in found:
        rows.add_row(
            *values_of(one.values),
            f"{one.cost_usd:.4f} USD",
            f"{one.counts.n:,}",
            f"{one.priced:,}",
            moment(one.last_at),
        )
    lines: list[Any] = [rows]
    if "skill" in names:
        lines.append("An outcome with several skills counts for each of them.")
    else:
        spent, priced = sum(one.cost_usd for one in found), sum(one.priced for one in found)
        lines.append(
            f"together {spent:.4f} USD; {counted(priced, 'outcome has', 'outcomes have')} a price"
        )
    return lines


def values_of(values: Mapping[str, Any]) -> list[str]:
    """What stands in the columns of dimensions."""
    return ["-" if value is None else str(value) for value in values.values()]


def alike_table(found: Sequence[Alike]) -> list[Any]:
    """Runs alike, with the reasons."""
    if not found:
        return ["No run shares anything with it."]
    lines: list[Any] = []
    for one in found:
        what = f"{one.workflow}, {one.status}, {moment(one.ended_at)}"
        lines += [
            Text.assemble((one.workflow_id, "bold"), f"  {one.score:.2f} alike  {what}"),
            Text(f"  because of {'; '.join(one.reasons)}", "dim"),
        ]
    return lines


def insights_list(found: Sequence[InsightFact], *, ever: bool = True) -> list[Any]:
    """Insights with their evidence; ``ever``: those that hold no more are among them."""
    if not found:
        what = "No insight is in the graph" if ever else "No insight holds now"
        more = "" if ever else "; --ever shows those that held once"
        return [f"{what}: analyses (`dcf reflect`) write what they find well enough founded{more}."]
    lines: list[Any] = []
    for one in found:
        runs = f", runs {few(one.evidence_runs)}" if one.evidence_runs else ""
        until = f", until {moment(one.expires_at)}" if one.expires_at else ""
        lines += [
            Text.assemble((one.statement, "bold")),
            Text(
                f"  {one.category}, {sureness(one.confidence)} sure, since "
                f"{moment(one.created_at)}{until}{runs}; taken {one.taken}, helped {one.helped}",
                "dim",
            ),
        ]
    return lines


def overview_table(found: Overview) -> list[Any]:
    """What there is."""
    rows = table("what", "kind", "how many")
    for what, counts in (
        ("episodes", found.episodes), ("entities", found.entities), ("facts", found.facts),
        ("groups", found.groups),
    ):  # fmt: skip
        for at, (kind, n) in enumerate(counts.items()):
            rows.add_row("" if at else what, kind, f"{n:,}")
    lines: list[Any] = [rows] if rows.row_count else ["There is nothing of that in the graph."]
    if found.outcomes.n:
        first, last = moment(found.first_at), moment(found.last_at)
        lines.append(f"outcomes: {share(found.outcomes)} succeeded, from {first} to {last}")
    return lines


def table(*headings: str) -> Table:
    """An empty table; numbers stand on the right."""
    made = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        right = heading in (
            "mean",
            "how many",
            "runs",
            "failed",
            "cost",
            "outcomes",
            "with a price",
            "n",
            "median",
            "90 % below",
            "most",
            "companions",
            "delegated",
        )
        # What is measured stays on one line; names of runs may take several.
        whole = heading in ("succeeded", "0 … 1", "mean", "cost")
        made.add_column(
            heading, justify="right" if right else "left", overflow="fold", no_wrap=whole
        )
    return made
