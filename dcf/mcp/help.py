"""Help on a parameter, and for whom it is: people read all of it in the reference, models pay for
every word that their client puts before them."""

from __future__ import annotations


class _Mark(str):
    """Equal to no plain text: typing keeps one ``Annotated`` for marks that are equal."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str.__eq__(self, other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, str(self)))


class Obvious(_Mark):
    """Help that tells a model no more than the parameter's name and type do: clients get the
    parameter without it. ``limit: Annotated[int, Obvious("At most so many.")]``"""


class NoEffect(_Mark):
    """Help on a parameter that the earlier server had and that changes nothing here: it is taken,
    so that old callers go on, and clients are not told of it."""


class Rare(_Mark):
    """Help on a parameter that hardly any caller needs, or that another tool tells of: it is taken
    and stands in the reference, and clients are not told of it. Strict tools have none: what a
    client is not told of, it may not send to them."""
