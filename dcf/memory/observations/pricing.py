"""What observations cost a model to read. Counted before the transaction that adds them, in which
nobody else could write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcf.memory.checking import refuse
from dcf.memory.observation import NewObservation
from dcf.memory.observations.fields import problems
from dcf.memory.observations.rendering import details_of
from dcf.problem import Problem
from dcf.search import counts_of_tokens


@dataclass(frozen=True, slots=True)
class Priced:
    """A new observation that may be kept, and what all of it costs."""

    new: NewObservation
    tokens: int


def priced(new: Sequence[NewObservation]) -> tuple[Priced, ...]:
    """The observations with their prices. Raises InvalidEntry with all that is wrong."""
    refuse("the observation", _problems(new))
    tokens = counts_of_tokens([details_of(one) for one in new])
    return tuple(map(Priced, new, tokens))


def _problems(new: Sequence[NewObservation]) -> Iterator[Problem]:
    for number, one in enumerate(new):
        yield from problems(f"/{number}", one)
