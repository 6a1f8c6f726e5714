"""What an interpreted execution did, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.asl import TraceEntry, format_timestamp

_SHOWN = 200
_EXCERPT = 90
_STYLE = {"failed": "red", "caught": "yellow", "retry": "yellow", "task": "cyan"}


def trace_table(trace: Sequence[TraceEntry], began: float) -> list[Any]:
    """What happened when (time since the start), indented by nesting."""
    table = Table(title="Trace", title_justify="left")
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("state", overflow="fold")
    table.add_column("what", no_wrap=True)
    table.add_column("value", overflow="fold")
    shown = _shown(trace)
    for entry in shown:
        depth = (len(entry.path) - 1) // 2
        style = _STYLE.get(entry.moment, "")
        table.add_row(
            f"+{lasted(entry.at - began)}",
            Text("  " * depth + _place(entry)),
            Text(entry.moment, style=style),
            Text(_value(entry)),
        )
    left = len(trace) - len(shown)
    return [table, *([f"… {left} more in the middle: --trace json lists all"] if left else [])]


def trace_json(trace: Sequence[TraceEntry]) -> list[dict[str, Any]]:
    """``{at, path, moment, value}`` for each entry; ``path`` is a list, ``at`` a timestamp."""
    return [
        {
            "at": format_timestamp(entry.at),
            "path": list(entry.path),
            "moment": entry.moment,
            "value": entry.value,
        }
        for entry in trace
    ]


def _shown(trace: Sequence[TraceEntry]) -> list[TraceEntry]:
    """The beginning and the end of a long trace."""
    if len(trace) <= _SHOWN:
        return list(trace)
    return [*trace[: _SHOWN // 2], *trace[-_SHOWN // 2 :]]


def _place(entry: TraceEntry) -> str:
    """The name of the state, with the number of the child that it belongs to."""
    return "".join(_steps(entry.path[-2:] if len(entry.path) > 1 else entry.path))


def _steps(path: Sequence[str | int]) -> Iterator[str]:
    for step in path:
        yield step if isinstance(step, str) else f"[{step}] "


def lasted(seconds: float) -> str:
    """``1 day, 0:00:05`` or ``0:00:00.250``; seconds where it is beyond counting in days."""
    try:
        text = str(timedelta(seconds=round(seconds, 3)))
    except OverflowError:  # longer than 2.7 million years
        return f"{seconds:.3g} s"
    whole, dot, fraction = text.partition(".")
    return f"{whole}{dot}{fraction[:3]}"


def _value(entry: TraceEntry) -> str:
    if entry.moment == "wait":
        return f"for {lasted(entry.value)}"
    if entry.moment in ("retry", "caught", "failed"):
        told = ": ".join(part for part in (entry.value["Error"], entry.value["Cause"]) if part)
        again = f" (again in {lasted(entry.value['Seconds'])})" if entry.moment == "retry" else ""
        return f"{_short(told)}{again}"
    return _short(json.dumps(entry.value, ensure_ascii=False))


def _short(text: str) -> str:
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
