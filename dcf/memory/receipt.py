"""What was forgotten, for good: what a receipt says."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from dcf.memory.actor import Actor

Fate: TypeAlias = Literal["removed", "emptied", "renamed", "history"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A row of the ``kind`` with the id ``ref`` names what is to be forgotten; ``citation`` is its
    address, where ``dcf open`` knows one."""

    kind: str
    ref: str
    citation: str | None = None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of a row of ``store``: its ``kind``, its id ``ref``, when it went (``at``, ms
    since the epoch, UTC), and the SHA-256 of what it was. Its ``fate``: the row is ``removed``, it
    is there without its texts (``emptied``), without the name that it had (``renamed``), or events
    of it no longer say what it was (``history``)."""

    store: str
    kind: str
    ref: str
    fate: Fate
    digest: str
    at: int


@dataclass(frozen=True, slots=True)
class Unreached:
    """A place that may still name it, ``why`` nothing was done there, and what helps."""

    where: str
    why: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Who had something forgotten ``by``, when it began and ended (ms since the epoch, UTC; None:
    it was interrupted, and goes on when it is asked for again), and what went. It does not say what
    was forgotten: ``about`` is the digest of that."""

    id: str
    about: str
    by: Actor
    began_at: int
    ended_at: int | None
    tombstones: tuple[Tombstone, ...]
    unreached: tuple[Unreached, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many tombstones there are, by store and kind."""
        return dict(Counter(f"{one.store}: {one.kind}" for one in self.tombstones))

    @property
    def digest(self) -> str:
        """The SHA-256 of all that it says."""
        return digest_of_data(asdict(self))

    def to_dict(self) -> dict[str, Any]:
        """As it is written to a file."""
        return {**asdict(self), "counts": dict(self.counts), "digest": self.digest}


def digest_of_data(data: object) -> str:
    """The SHA-256 of data of JSON, 64 hex digits; bytes in it count as their hex digits."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, default=lambda one: one.hex())
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
