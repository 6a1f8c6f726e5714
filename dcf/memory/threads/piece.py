"""What a source says of its threads, piece by piece: a long one is never in memory as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple, TypeAlias

from dcf.memory.audit.clean_text import clean, clean_fields
from dcf.memory.checking import data_problems, json_of, text_problems
from dcf.memory.thread import STATUSES, NewThread, NewTurn, Outline
from dcf.problem import Problem
from dcf.secret_form import is_credential

_BYTES = 16


class Mark(NamedTuple):
    """What a turn is known by: the id that its source gives it, and a digest of its content. Turns
    with equal marks are told apart by their neighbours."""

    key: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of the thread with this id at its source. ``node`` is what ``Ended.left`` calls it."""

    source_id: str
    turn: NewTurn
    node: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The turns of a thread were all said. Those whose node is in ``left`` stand on a branch that
    was left."""

    outline: Outline
    left: frozenset[str] = frozenset()


Piece: TypeAlias = Said | Ended


def clean_turn(turn: NewTurn) -> NewTurn:
    """``turn`` as it is kept: its mark is made of that."""
    kept = clean_fields(turn, but=("key", "at", "rewound"))
    return replace(kept, key=_clean_id(turn.key))


def clean_outline(outline: Outline) -> Outline:
    """``outline`` as it is kept, but for the id: one that is a credential is refused."""
    return replace(
        outline,
        project=clean(outline.project),
        title=clean(outline.title),
        parent=_clean_id(outline.parent),
    )


def _clean_id(text: str) -> str:
    """An id by which nothing is cited; in the place of a credential its digest does as well."""
    return hashlib.sha256(text.encode()).hexdigest() if is_credential(text) else text


def mark_of(turn: NewTurn) -> Mark:
    """What ``turn`` is known by."""
    return Mark(turn.key, digest_of(turn.role, turn.text, tools_of(turn), turn.at))


def digest_of(role: str, text: str, tools: str, at: int | None) -> bytes:
    """The digest of a turn's content; ``tools`` are as they are kept."""
    content = json_of([role, text, tools, at]).encode()
    return hashlib.sha256(content).digest()[:_BYTES]


def tools_of(turn: NewTurn) -> str:
    """The tools of a turn as they are kept."""
    return json_of([*map(asdict, turn.tools)])


def pieces_of(thread: NewThread) -> Iterator[Piece]:
    """The pieces of a thread that is there as a whole."""
    left = frozenset(str(number) for number, turn in enumerate(thread.turns) if turn.rewound)
    for number, turn in enumerate(thread.turns):
        yield Said(thread.outline.source_id, turn, str(number))
    yield Ended(thread.outline, left)


def thread_problems(thread: NewThread) -> Iterator[Problem]:
    """All that is wrong with a thread."""
    yield from text_problems("/source_type", thread.source_type, filled=True)
    yield from outline_problems(thread.outline)
    for number, turn in enumerate(thread.turns):
        yield from turn_problems(f"/turns/{number}", turn)


def outline_problems(outline: Outline) -> Iterator[Problem]:
    """All that is wrong with what is said of a thread."""
    yield from text_problems("/outline/source_id", outline.source_id, filled=True)
    for name in ("project", "title", "parent"):
        yield from text_problems(f"/outline/{name}", getattr(outline, name))
    if outline.status not in STATUSES:
        yield Problem(
            "memory_thread_status",
            f"/outline/status is {outline.status!r}, not one of {', '.join(STATUSES)}",
            "/outline/status",
        )


def turn_problems(path: str, turn: NewTurn) -> Iterator[Problem]:
    """All that is wrong with the turn at ``path``."""
    yield from text_problems(f"{path}/role", turn.role, filled=True)
    yield from text_problems(f"{path}/text", turn.text)
    yield from text_problems(f"{path}/key", turn.key)
    for place, tool in enumerate(turn.tools):
        yield from text_problems(f"{path}/tools/{place}/name", tool.name, filled=True)
        yield from data_problems(f"{path}/tools/{place}/input", tool.input)
        yield from text_problems(f"{path}/tools/{place}/output", tool.output)
