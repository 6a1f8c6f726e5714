"""What a reader notes while it reads: where each sentence went, what it has to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcf.sop.runbook.drafted import Place, Question, Sentence, question_id
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.wording import Piece


@dataclass(slots=True, eq=False)
class Noted:
    """A sentence with the node that it belongs to; the node's number is known in the end."""

    piece: Piece
    place: Place
    node: Node | None = None


@dataclass(slots=True)
class Desk:
    """``answers`` are what somebody said to questions, by their ids."""

    answers: Mapping[str, str]
    path: tuple[str, ...] = ()
    noted: list[Noted] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    _asked: dict[tuple[str, ...], int] = field(default_factory=dict)

    def note(self, piece: Piece, place: Place, node: Node | None = None) -> Noted:
        noted = Noted(piece, place, node)
        self.noted.append(noted)
        return noted

    def ask(
        self, piece: Piece, asks: str, assumed: str, answers: tuple[str, ...] = ()
    ) -> tuple[str, bool]:
        """What somebody answered, else ``assumed``; and whether it was answered. An answer that is
        none of ``answers`` counts as none."""
        key = (*self.path, piece.text, asks)
        again = self._asked.get(key, 0)
        self._asked[key] = again + 1
        name = question_id(self.path, piece.text, asks, again)
        said = self.answers.get(name, "").strip()
        if said and (not answers or said in answers):
            self.answered.append(name)
            return said, True
        self.questions.append(Question(name, piece.line, piece.text, asks, assumed, answers))
        return assumed, False

    def sentences(self) -> tuple[Sentence, ...]:
        """All that was noted, in reading order."""
        ordered = sorted(self.noted, key=lambda one: one.piece.line)
        return tuple(
            Sentence(
                one.piece.line,
                one.piece.last,
                one.piece.text,
                one.place,
                one.node.number or None if one.node else None,
            )
            for one in ordered
        )
