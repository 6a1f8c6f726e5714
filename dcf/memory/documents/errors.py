"""What can go wrong with documents."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class UnknownDocument(MemoryProblem):
    """There is no document {name}."""

    code = "memory_unknown_document"
    hint = "`dcf documents list` has their ids and paths; a path is of one project"


class UnknownPlace(MemoryProblem):
    """The document {name} has no text {where}."""

    code = "memory_unknown_place"
    hint = "`dcf documents show` without a page or lines shows all of it"
