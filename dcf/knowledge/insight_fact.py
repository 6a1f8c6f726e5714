"""An insight as the graph takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from dcf.knowledge.record_form import demand_texts, demand_time

_TEXTS = ("id", "category", "statement", "condition", "prefer", "avoid", "evidence")
_LISTS = ("task_types", "skills", "evidence_runs", "supersedes", "conflicts_with")


@dataclass(frozen=True, slots=True)
class InsightFact:
    """What an analysis found, once more with each change of it (``id`` stays).

    ``statement`` is a sentence for people, redacted before it is written; ``condition``, ``prefer``
    and ``avoid`` are JSON texts or short texts, as the analysis has them. ``task_types`` and
    ``skills`` (manifest ids, or names without version) are what it concerns, ``supersedes`` and
    ``conflicts_with`` ids of other insights, ``evidence_runs`` run ids (the first hundred are
    kept), ``evidence`` a JSON text of counts and intervals. ``confidence`` is 0 to 1. Times are ms
    since the epoch; ``retracted_at`` says from when on it does not hold any more.
    """

    id: str
    category: str
    statement: str
    confidence: float
    created_at: int
    condition: str = ""
    prefer: str = ""
    avoid: str = ""
    task_types: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    evidence: str = ""
    evidence_runs: tuple[str, ...] = ()
    expires_at: int | None = None
    retracted_at: int | None = None
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    taken: int = 0
    helped: int = 0

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), **{name: list(getattr(self, name)) for name in _LISTS}}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The opposite of ``to_json``; fields that are not known are left out. Raises TypeError
        where one is missing or is not what it should be."""
        known = {name: fields[name] for name in cls.__slots__ if name in fields}
        made = cls(**{**known, **{name: tuple(known.get(name) or ()) for name in _LISTS}})
        demand_texts(made, _TEXTS)
        for name in _LISTS:
            if not all(isinstance(one, str) for one in getattr(made, name)):
                raise TypeError(f"{name} is no list of texts")
        demand_time("created_at", made.created_at)
        for name in ("expires_at", "retracted_at"):
            if getattr(made, name) is not None:
                demand_time(name, getattr(made, name))
        confidence = made.confidence
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
            raise TypeError("confidence is no number")
        if not 0 <= confidence <= 1:
            raise TypeError("confidence is not between 0 and 1")
        for name in ("taken", "helped"):
            if type(getattr(made, name)) is not int:
                raise TypeError(f"{name} is no whole number")
        return made
