"""How an observation is told to a model: one line of an index, or all of it."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.memory.observation import ICONS, Artifact, NewObservation, Observation


def index_line(short_id: str, one: Observation | NewObservation, tokens: int) -> str:
    """A row of an index without its age: id, icon of the type, title, source, what the details
    cost."""
    source = one.origin.source_type
    return f"{short_id} {ICONS[one.type]} {one.title} · {source} · {tokens}t"


def details_of(one: Observation | NewObservation) -> str:
    """All that is known, as Markdown."""
    return "\n".join(_lines(one))


def _lines(one: Observation | NewObservation) -> Iterator[str]:
    yield f"**{one.title}** ({one.type})"
    if one.subtitle:
        yield one.subtitle
    yield from (f"- {fact}" for fact in one.facts)
    if one.narrative:
        yield one.narrative
    if one.artifacts:
        yield "Touched: " + ", ".join(map(_artifact, one.artifacts))


def _artifact(one: Artifact) -> str:
    return f"{one.path} ({one.action})" if one.action else one.path
