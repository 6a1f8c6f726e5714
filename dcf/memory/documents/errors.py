"""What can go wrong with documents."""

from __future__ import annotations

from collections.abc import Sized

from dcf.memory.document import Document, PieceChoice
from dcf.memory.errors import MemoryProblem


class UnknownDocument(MemoryProblem):
    """There is no document {name}."""

    code = "memory_unknown_document"
    hint = "`dcf documents list` has their ids and paths; a path is of one project"


class UnknownPlace(MemoryProblem):
    """The document {name} has no text {where}."""

    code = "memory_unknown_place"
    hint = "`dcf documents show` without a page or lines shows all of it"


def demand_pieces(found: Sized, document: Document, chosen: PieceChoice) -> None:
    """Raises UnknownPlace if nothing was found where pieces of one place were asked for."""
    page, lines = chosen.page, chosen.lines
    if found or (page is None and lines is None):
        return
    where = f"on page {page}" if lines is None else f"in lines {lines[0]} to {lines[1]}"
    raise UnknownPlace(name=document.path, where=where)
