"""What can go wrong in a search."""

from __future__ import annotations

from pathlib import Path


class SearchError(Exception):
    """A search was not possible. ``code`` is stable, ``hint`` says what would help."""

    code = "SEARCH_ERROR"
    hint = ""


class EmptyQuery(SearchError):
    """The query has no letter and no digit."""

    code = "SEARCH_QUERY_EMPTY"
    hint = "say in a few words what is to be done"

    def __init__(self) -> None:
        super().__init__("the query is empty")


class UnknownEmbedder(SearchError):
    """There is no embedder of this name."""

    code = "SEARCH_EMBEDDER_UNKNOWN"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.hint = f"one of {', '.join(known)}"
        super().__init__(f"{name!r} is no embedder")


class EmbedderMissing(SearchError):
    """The packages of an embedder are not installed, or a file of theirs is missing."""

    code = "SEARCH_EMBEDDER_MISSING"

    def __init__(self, name: str, missing: str, hint: str) -> None:
        self.name = name
        self.hint = hint
        super().__init__(f"the embedder {name!r} needs {missing}, which is not installed")


class IndexUnusable(SearchError):
    """The index file cannot be read or written, or another process holds it for too long."""

    code = "SEARCH_INDEX_UNUSABLE"
    hint = "check that the file can be written and that the disk has room"

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"the index {path} cannot be used: {reason}")


class IndexDamaged(SearchError):
    """The index file was damaged. It has been removed: bring the documents again."""

    code = "SEARCH_INDEX_DAMAGED"
    hint = "index the documents again"

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"the index {path} was damaged and has been removed")
