"""How big a state is drawn, and with which lines of text."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.diagram.chart import Edge, Node
from dcf.diagram.lettering import width_of, wrap
from dcf.diagram.look import Look

NAME_SIZE, NOTE_SIZE, LABEL_SIZE = 13.0, 11.0, 11.0
NAME_LINE, NOTE_LINE, LABEL_LINE = 16.0, 14.0, 13.0
PAD_X, PAD_Y = 14.0, 8.0
_NARROWEST, _WIDEST = 96.0, 190.0
_LABEL_WIDEST = 170.0
_MARGIN = 1.0


@dataclass(frozen=True, slots=True)
class Words:
    """Lines of text and the room that they need."""

    name: tuple[str, ...]
    notes: tuple[str, ...]
    width: float
    height: float


def words_of(node: Node, look: Look | None, widest: float = _WIDEST) -> Words:
    """What is written on ``node``: name, what it does, and how it stands in a run."""
    name = wrap(node.name, NAME_SIZE, widest, 3, bold=True)
    notes = _note_lines(node.note, widest, 2)
    if look is not None:
        said = " · ".join(filter(None, (look.status, look.detail)))
        notes += _note_lines(said, widest, 3)
    widths = [width_of(line, NAME_SIZE, bold=True) for line in name]
    widths += [width_of(line, NOTE_SIZE) for line in notes]
    width = max(_NARROWEST, *widths) + 2 * PAD_X
    height = len(name) * NAME_LINE + len(notes) * NOTE_LINE + 2 * PAD_Y
    return Words(tuple(name), tuple(notes), width, height)


def _note_lines(text: str, widest: float, lines: int) -> list[str]:
    """``text`` broken, without the points that would hang at the end of a line."""
    return [line.removesuffix(" ·") for line in wrap(text, NOTE_SIZE, widest, lines) if line]


@dataclass(frozen=True, slots=True)
class Label:
    words: tuple[str, ...]
    width: float
    height: float


def label_of(edge: Edge) -> Label | None:
    """What is written beside ``edge``, None where it needs no word."""
    if not edge.label:
        return None
    words = wrap(edge.label, LABEL_SIZE, _LABEL_WIDEST, 3)
    width = max(width_of(line, LABEL_SIZE) for line in words) + 12 + _MARGIN
    return Label(tuple(words), width, len(words) * LABEL_LINE + 5)
