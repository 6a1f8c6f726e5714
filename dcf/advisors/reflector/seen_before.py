"""Failures that were seen before: what the playbooks of a project say about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dcf.advisors.reflector.reflecting import Reflection, SeenBefore
from dcf.knowledge import RunFact
from dcf.memory import Memory

MOST = 50
"""Kinds of failures that are looked up: the most frequent."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What failed ``n`` times, in ``runs``."""

    text: str
    n: int
    runs: tuple[str, ...]


async def with_playbooks(
    reflection: Reflection, end: RunFact | None, memory: Memory, project: str
) -> Reflection:
    """The reflection with the playbooks of ``project`` that fit what failed in its period, or how
    the run ended that was asked for (``end``; None: none was). Raises MemoryProblem."""
    found = []
    for failure in _failures(reflection, end):
        for match in await memory.playbooks.match(project, failure.text, limit=1):
            found.append(SeenBefore(failure.text, failure.n, failure.runs, match))
    return replace(reflection, playbooks=tuple(found))


def _failures(reflection: Reflection, end: RunFact | None) -> Iterator[_Failure]:
    clusters = reflection.analysis.failures[:MOST]
    found = [_Failure(_text(one.error, one.cause), one.n, one.runs) for one in clusters]
    # An end that a Task brought about is among them.
    known = end is None or any(end.workflow_id in one.runs for one in clusters)
    if end is not None and end.error is not None and not known:
        yield _Failure(_text(end.error, end.cause), 1, (end.workflow_id,))
    yield from found


def _text(error: str, cause: str | None) -> str:
    return f"{error}: {cause}" if cause else error
