"""What is kept of a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document that stands under one heading and on one page. ``headings`` are those
    above it, the outermost first; lines and page as in ``Block``."""

    text: str
    headings: tuple[str, ...] = ()
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as it was read, without the secrets that were in it. ``problems`` are warnings."""

    title: str
    format: str
    pieces: tuple[Piece, ...]
    pages: int | None = None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ReadDocument:
        """From what ``dataclasses.asdict`` made, through JSON."""
        pieces = (Piece(**{**one, "headings": tuple(one["headings"])}) for one in value["pieces"])
        problems = (Problem(**one) for one in value["problems"])
        return cls(**{**value, "pieces": tuple(pieces), "problems": tuple(problems)})
