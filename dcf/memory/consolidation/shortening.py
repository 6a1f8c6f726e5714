"""Shortening a text by rule: what says most stays, in its order and its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dcf.memory.consolidation.facts import facts, said
from dcf.memory.consolidation.lines import Line, bare, lines_of
from dcf.search import sentences

_LONG = 240
"""Bytes of a line that is taken sentence by sentence."""
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, a sentence of a long one, or fenced code as a whole. ``heading`` is the position of
    the piece that it stands under, if there is one."""

    text: str
    heading: int | None
    is_heading: bool

    @property
    def size(self) -> int:
        return len(self.text.encode()) + 1


def shortened(text: str, room: int) -> str:
    """What says most in ``text``, in at most ``room`` bytes of UTF-8.

    A piece (a line, a sentence of a long line) counts by its facts and by how often its words stand
    in the text, in proportion to its length; what stands under a heading brings it along. A piece
    that is larger than all the room is cut.
    """
    pieces = _pieces(text)
    values = _values(pieces)
    chosen: set[int] = set()
    left = room + 1
    for at in sorted(range(len(pieces)), key=lambda at: (-values[at], at)):
        if pieces[at].is_heading or not pieces[at].text.strip():
            continue
        needed = {at, *_above(pieces, at)} - chosen
        size = sum(pieces[one].size for one in needed)
        if size <= left:
            chosen |= needed
            left -= size
    if chosen:
        return "\n".join(pieces[at].text for at in sorted(chosen))
    if not pieces:
        return ""
    best = max(range(len(pieces)), key=lambda at: (values[at], -at))
    return _cut(pieces[best].text.strip(), room)


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    under: dict[str, int] = {}
    fenced: list[str] = []
    fence = ""
    seen: set[object] = set()
    for line in lines_of(text):
        mark = line.text.strip()[:3]
        if fence or mark in ("```", "~~~"):
            fenced.append(line.text)
            fence = "" if fence and mark == fence else fence or mark
            if not fence:
                pieces.append(_Piece("\n".join(fenced), _over(line, under), False))
                fenced = []
            continue
        if line.same in seen or not line.text.strip():
            continue
        seen.add(line.same)
        is_heading = not line.plain and (line.text.lstrip().startswith("#") or _introduces(line))
        for part in _parts(line):
            pieces.append(_Piece(part, _over(line, under), is_heading))
        under[bare(line.text)] = len(pieces) - 1
    if fenced:
        pieces.append(_Piece("\n".join(fenced), None, False))
    return pieces


def _introduces(line: Line) -> bool:
    return bare(line.text).endswith(":")


def _over(line: Line, under: dict[str, int]) -> int | None:
    return under.get(line.under[-1]) if line.under else None


def _parts(line: Line) -> list[str]:
    if len(line.text.encode()) <= _LONG:
        return [line.text]
    return sentences(line.text) or [line.text]


def _above(pieces: list[_Piece], at: int) -> Iterator[int]:
    heading = pieces[at].heading
    while heading is not None:
        yield heading
        heading = pieces[heading].heading


def _values(pieces: list[_Piece]) -> list[float]:
    words = [said(piece.text) for piece in pieces]
    counts = Counter(word for one in words for word in set(one) if len(word) > 3)
    values = []
    for piece, own in zip(pieces, words, strict=True):
        known = sum(1 - 1 / counts[word] for word in set(own) if counts[word] > 1)
        told = 2 * len(facts(piece.text)) + known
        values.append(told / (8 + len(own)))
    return values


def _cut(text: str, room: int) -> str:
    kept = room - len(_ELLIPSIS.encode())
    if kept <= 0:
        return ""
    return text.encode()[:kept].decode(errors="ignore") + _ELLIPSIS
