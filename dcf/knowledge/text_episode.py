"""A text that somebody wants remembered, as it travels to the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from dcf.knowledge.privacy import CUT, Privacy
from dcf.knowledge.record_form import demand_texts, demand_time
from dcf.secret_form import without_credentials

TEXT: Final = "text"
"""The kind of the outbox's records that are texts (``TextEpisode.to_json``)."""
TEXTS: Final = "dcf_texts"
"""The group of texts that name none. What was measured has the group ``dcf`` to itself: a model
that finds entities in a text would else make them one with what was measured."""
SOURCES = ("text", "json", "message")
LONGEST = 20_000
"""So many characters of a text are kept."""
_TEXT_FIELDS = ("uuid", "name", "content", "group", "source", "source_description")
_PIECE = 1_500
_UNREAD = "[not checked]"


@dataclass(frozen=True, slots=True)
class TextEpisode:
    """``content`` belongs to ``group``; ``source`` says what it is (one of ``SOURCES``), ``at``
    when it was said (ms). ``extract``: a model is to find facts in it."""

    uuid: str
    name: str
    content: str
    at: int
    group: str = TEXTS
    source: str = "text"
    source_description: str = ""
    extract: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The opposite of ``to_json``; fields that are not known are left out. Raises TypeError
        where one is missing or is not what it should be."""
        made = cls(**{name: fields[name] for name in cls.__slots__ if name in fields})
        demand_texts(made, _TEXT_FIELDS)
        demand_time("at", made.at)
        return made

    def redacted(self, privacy: Privacy) -> Self:
        """The same without secrets and what names or finds a person."""
        return type(self)(
            uuid=self.uuid,
            name=privacy.text(self.name, CUT),
            content=redacted_text(privacy, self.content),
            at=self.at,
            group=self.group,
            source=self.source,
            source_description=privacy.text(self.source_description, CUT),
            extract=self.extract,
        )


def redacted_text(privacy: Privacy, text: str) -> str:
    """``text`` without what must not be kept, at most ``LONGEST`` characters. It is read in pieces
    that end where a line or a sentence does, so that nothing is torn apart; a piece without any end
    is not kept."""
    # A private key has many lines, of which only the first one says what they are.
    whole = without_credentials(text[:LONGEST], "[token]")
    pieces = [
        privacy.text(piece, _PIECE) if len(piece) <= _PIECE else _UNREAD for piece in _pieces(whole)
    ]
    return "".join(pieces)


def _pieces(text: str) -> list[str]:
    """``text`` in pieces of about ``_PIECE`` characters at most, none of its characters lost."""
    pieces = [""]
    for line in text.splitlines(keepends=True):
        for sentence in _sentences(line):
            if pieces[-1] and len(pieces[-1]) + len(sentence) > _PIECE:
                pieces.append("")
            pieces[-1] += sentence
    return pieces


def _sentences(line: str) -> list[str]:
    if len(line) <= _PIECE:
        return [line]
    parts = line.split(". ")
    return [f"{part}. " for part in parts[:-1]] + [parts[-1]]
