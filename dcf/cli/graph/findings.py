"""Answers to questions in words that no command of their own gives, as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from dcf.cli.graph.tables import table, values_of
from dcf.cli.graph.wording import few, moment, share
from dcf.cli.wording import counted
from dcf.knowledge import SessionFact
from dcf.knowledge.asking import (
    Approved,
    Called,
    Cause,
    Choosing,
    Compared,
    Crossed,
    Decided,
    Listed,
    Spread,
    Trend,
)

_OF = {"success": "success rate", "duration": "duration", "cost": "cost of an outcome"}
_DIRECTION = {
    "rises": "rises", "falls": "falls", "no_change_found": "shows no change",
    "too_few": "is of too few outcomes to tell",
}  # fmt: skip
_DAYS = 14


def runs_list(found: Sequence[Listed]) -> list[Any]:
    """Runs one by one."""
    if not found:
        return ["No run is like that."]
    lines: list[Any] = []
    for one in found:
        where = f", {one.state}" if one.state else ""
        by = f" by {one.agent}" if one.agent else ""
        said = f": {one.error} {one.cause or ''}".rstrip() if one.error else ""
        lines += [
            Text.assemble((one.run, "bold"), f"  {moment(one.at)}  {one.workflow}{where}{by}"),
            Text(f"  {one.status}{said}", "red" if one.error else "dim"),
        ]
    return lines


def causes_list(found: Sequence[Cause]) -> list[Any]:
    """Kinds of failures, the most frequent first."""
    if not found:
        return ["Nothing like that failed."]
    lines: list[Any] = [f"Of {counted(found[0].of, 'failure', 'failures')}:"]
    for one in found:
        lines += [
            Text(f"{one.n:,} times {one.error} in {one.task_type}", "bold"),
            Text(f"  {one.cause or 'no cause was given'}"),
            Text(f"  {moment(one.first_at)} to {moment(one.last_at)}; runs {few(one.runs)}", "dim"),
        ]
    return lines


def trend_lines(found: Trend) -> list[Any]:
    """What follows from the values, and the values of the newest days."""
    if not found.looked_at:
        return ["No outcome is like that."]
    lines: list[Any] = [
        Text(f"The {_OF[found.of]} {_DIRECTION[found.direction]}.", "bold"),
        f"  older half {_value(found, found.before)}, newer half {_value(found, found.after)} "
        f"(p {found.p_value:.2g}, of {counted(found.looked_at, 'outcome', 'outcomes')})",
    ]
    days = table("day", "succeeded", "mean", "cost")
    for one in found.days[-_DAYS:]:
        days.add_row(
            one.day, share(one.counts), f"{one.mean_ms / 1000:.1f} s", f"{one.cost_usd:.4f} USD"
        )
    return [*lines, days]


def _value(found: Trend, value: float | None) -> str:
    if value is None:
        return "none"
    if found.of == "success":
        return f"{100 * value:.0f} %"
    return f"{value / 1000:.2f} s" if found.of == "duration" else f"{value:.4f} USD"


def compared_lines(found: Compared) -> list[Any]:
    """Two against each other."""
    first, second = found.names
    if found.comparison is None:
        if not found.differences:
            return [f"{first} and {second} differ in nothing that the graph knows."]
        rows = table("where", "what", first, second)
        for one in found.differences:
            rows.add_row(one.state or "the run", one.what, one.first, one.second)
        return [rows]
    lines = [_side(name, side) for name, side in zip(found.names, found.sides, strict=True)]
    return [*lines, _verdict(found)]


def _side(name: str, side: Crossed) -> str:
    cost = f", {side.cost_usd / side.priced:.4f} USD each" if side.priced else ""
    return f"{name}: {share(side.counts)} succeeded, mean {side.mean_ms / 1000:.1f} s{cost}"


def _verdict(found: Compared) -> str:
    one = found.comparison
    assert one is not None
    bounds = f"difference {100 * one.low:+.0f} to {100 * one.high:+.0f} points, p {one.p_value:.2g}"
    first, second = found.names
    match one.verdict:
        case "higher":
            return f"{first} succeeds more often ({bounds})."
        case "lower":
            return f"{second} succeeds more often ({bounds})."
        case "too_few":
            return f"Too few outcomes to tell ({bounds})."
        case _:
            return f"No difference is found that chance does not explain ({bounds})."


def periods_lines(found: Compared) -> list[Any]:
    """Two periods against each other."""
    rows = table("", "n", "succeeded", "failed", "mean", "cost", "each")
    for name, side in zip(found.names, found.sides, strict=True):
        rows.add_row(
            name,
            f"{side.counts.n:,}",
            share(side.counts),
            f"{side.counts.failures:,}",
            f"{side.mean_ms / 1000:.2f} s",
            f"{side.cost_usd:.4f} USD",
            f"{side.cost_usd / side.priced:.4f} USD" if side.priced else "unknown",
        )
    return [rows, _verdict(found)] if found.of == "success" else [rows]


def tools_table(found: Sequence[Called]) -> list[Any]:
    """Tools with their calls."""
    if not found:
        return ["No call of a tool is like that; those of runs told before 0.9 are not known."]
    names = [name for name in ("tool", "agent") if any(getattr(one, name) for one in found)]
    rows = table(*names, "calls", "without failure", "failed", "in tasks", "failed in")
    for one in found:
        rows.add_row(
            *(getattr(one, name) or "-" for name in names),
            f"{one.counts.n:,}",
            share(one.counts),
            f"{one.counts.failures:,}",
            f"{one.tasks:,}",
            few(one.failed_runs),
        )
    return [rows]


def approvals_table(found: Sequence[Approved]) -> list[Any]:
    """Decisions one by one."""
    if not found:
        return ["No decision on an approval is like that."]
    rows = table("run", "state", "by", "decided", "at", "waited")
    for one in found:
        rows.add_row(
            one.run,
            one.state,
            one.by,
            one.decision,
            moment(one.at),
            f"{one.waited_ms / 1000:.1f} s",
        )
    return [rows]


def deciders_table(found: Sequence[Decided]) -> list[Any]:
    """How often was decided."""
    if not found:
        return ["No decision on an approval is like that."]
    rows = table(*found[0].values, "approved", "rejected", "mean wait", "last", "in")
    for one in found:
        rows.add_row(
            *(str(value) for value in one.values.values()),
            f"{one.approved:,}",
            f"{one.rejected:,}",
            f"{one.mean_ms / 1000:.1f} s",
            moment(one.last_at),
            few(one.runs),
        )
    return [rows]


def chosen_list(found: Sequence[Choosing]) -> list[Any]:
    """Choices of skills, with what is measured now."""
    if not found:
        return ["No outcome with a skill is like that."]
    lines: list[Any] = []
    for one in found:
        why = one.why or "the workflow records no reason: it was not compiled from a procedure"
        lines += [
            Text(f"{', '.join(one.skills)} for {one.task_type}", "bold"),
            Text(f"  {why}"),
            Text(f"  used {one.n:,} times, last in {one.run}, {moment(one.at)}", "dim"),
        ]
        lines += [
            Text(
                f"  measured now: {each.version} {share(each.counts)}, mean "
                f"{each.mean_ms / 1000:.1f} s, best {100 * each.best:.0f} %"
            )
            for each in one.measured
        ]
    return lines


def spreads_table(found: Sequence[Spread]) -> list[Any]:
    """Durations, or tries."""
    if not found:
        return ["No outcome is like that."]
    names = list(found[0].values)
    rows = table(*names, "n", "median", "mean", "90 % below", "most", "as in")
    for one in found:
        numbers = (one.median, one.mean, one.p90, one.most)
        rows.add_row(
            *values_of(one.values),
            f"{one.n:,}",
            *(
                f"{number / 1000:.2f} s" if one.measure == "duration_ms" else f"{number:.2f}"
                for number in numbers
            ),
            one.run,
        )
    return [rows]


def sessions_table(found: Sequence[SessionFact]) -> list[Any]:
    """Sessions, as they were told last."""
    if not found:
        return ["No session is like that."]
    rows = table("session", "state", "began", "companions", "delegated", "succeeded")
    for one in found:
        rows.add_row(
            one.session_id,
            one.state,
            moment(one.created_at),
            f"{one.companions:,}",
            f"{one.tasks.get('delegated', 0):,}",
            f"{one.tasks.get('succeeded', 0):,}",
        )
    return [counted(len(found), "session", "sessions"), rows]
