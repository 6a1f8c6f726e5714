"""Counting outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from dcf.advisors.reflector.pseudonyms import pseudonym
from dcf.advisors.strategist.activity import Task
from dcf.evidence import Counts, Record

UNKNOWN_ERROR = "States.TaskFailed"
PARTIAL = "partial"
"""What counts as the error of a partial result that has none."""


def counts_of(tasks: Iterable[Task]) -> Counts:
    """How many succeeded, and how many did not."""
    found = Counter(task.ok for task in tasks)
    return Counts(found[True], found[False])


def counts_before(record: Record) -> Counts:
    """Whole outcomes, at most as many as the record is worth."""
    return Counts(int(record.successes), int(record.failures))


def difference(first: Counts, second: Counts) -> float:
    """The rate of the first less that of the second; 0 where one has no outcomes."""
    return (first.rate - second.rate) if first.rate is not None and second.rate is not None else 0.0


def lead(name: str, records: Mapping[str, Record]) -> float:
    """The success rate of ``name`` less the highest one of the others; 0 where none is known."""
    rates = {one: record.rate for one, record in records.items()}
    others = [rate for one, rate in rates.items() if one != name and rate is not None]
    own = rates[name]
    return own - max(others) if own is not None and others else 0.0


def in_order(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """In the order in which they ended."""
    return tuple(sorted(tasks, key=lambda task: (task.finished_at or 0, task.task_id)))


def error_of(task: Task) -> str:
    """The error code of a task that did not succeed, as it may be told to a model: companions and
    tools name errors, so that only plain names stay as they are."""
    if task.error_code is None:
        return PARTIAL if task.status == "partial" else UNKNOWN_ERROR
    return pseudonym(task.error_code)


def often(errors: Counter[str]) -> str:
    """``; most often Bank.Refused (7)``."""
    if not errors:
        return ""
    name = min(errors, key=lambda one: (-errors[one], one))
    return f"; most often {name} ({errors[name]})"
