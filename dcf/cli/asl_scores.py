"""The scores of a corpus on the screen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from dcf.cli.wording import counted
from dcf.conformance import LEVELS, Difference, Judged, Report, Required, Score

_SHOWN = 25
_EXCERPT = 400


def scores_table(title: str, scores: Mapping[str, Score]) -> Table:
    """One row for each op or tag: how many cases, how much of them holds at which level."""
    table = Table(title=title, title_justify="left")
    table.add_column(title.removeprefix("by "))
    for heading in ("cases", *LEVELS, "details"):
        table.add_column(heading, justify="right")
    for name, score in scores.items():
        parts = [*(score.levels[level] for level in LEVELS), score.details]
        table.add_row(name, str(score.cases), *(f"{100 * n / score.cases:.1f}%" for n in parts))
    return table


def counts_line(judged: Report, engine: str, out: Path) -> str:
    """How many cases there were, how fast, and where the results are."""
    parts = [f"{counted(len(judged.judged), 'case', 'cases')} on engine {engine}"]
    if judged.skipped:
        parts.append(f"{len(judged.skipped)} not tried")
    if judged.crashed:
        parts.append(f"{len(judged.crashed)} crashed")
    if judged.seconds:
        parts.append(f"{1000 * judged.seconds['median']:.2f} ms a case (median)")
    return f"{', '.join(parts)}; results in {out}"


def failing_lines(failing: Sequence[Judged], level: Required) -> list[str]:
    """The cases that do not hold at ``level``: what was wanted, what came."""
    if not failing:
        return []
    stories = [_story(one) for one in failing[:_SHOWN]]
    return [f"\nfailing at level {level}: {len(failing)}", *stories, *_more(len(failing))]


def detail_lines(judged: Sequence[Judged]) -> list[str]:
    """The cases in which arguments of Tasks, stages of a tested state or its next state differ."""
    wrong = [one for one in judged if one.result.mismatches]
    if not wrong:
        return []
    lines = [f"  {one.case.name}\n      {one.result.mismatches[0]}" for one in wrong[:_SHOWN]]
    heading = f"\narguments of Tasks, stages or next states not as recorded: {len(wrong)} cases"
    return [heading, *lines, *_more(len(wrong))]


def difference_lines(differing: Sequence[Difference], against: Path) -> list[str]:
    """Where the results differ from those in ``against``."""
    if not differing:
        return [f"\nno difference to {against}"]
    lines = [f"\ndifferent from {against}: {len(differing)}"]
    lines += [
        f"  {one.name}: {one.field}\n      here  {_short(one.here)}\n"
        f"      there {_short(one.there)}"
        for one in differing[:_SHOWN]
    ]
    return lines + _more(len(differing))


def _more(count: int) -> list[str]:
    return [f"  … and {count - _SHOWN} more: --json lists all"] if count > _SHOWN else []


def _story(one: Judged) -> str:
    case = told(one)
    return f"  {case['name']}\n      want {_short(case['want'])}\n      got  {_short(case['got'])}"


def told(one: Judged) -> dict[str, Any]:
    """A case with what was wanted and what came."""
    result = one.result
    got = {
        "status": result.status,
        "output": result.output,
        "error": result.error,
        "cause": result.cause,
    }
    return {
        "name": one.case.name,
        "want": dict(one.case.expected),
        "got": {name: value for name, value in got.items() if value is not None},
    }


def told_difference(one: Difference) -> dict[str, Any]:
    """One difference as JSON."""
    return {"name": one.name, "field": one.field, "here": one.here, "there": one.there}


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
