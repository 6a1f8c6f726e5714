"""What an answer may tell of the files of a project."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from dcf.retrieval.candidate import Candidate, Scored

NOT_PERMITTED = "not permitted: no skill that is loaded may be told of this file"


def permitted(
    candidates: Sequence[Candidate], files: Sequence[str] | None
) -> tuple[list[Candidate], list[Scored]]:
    """Those that are in ``files`` or about none, and the others, left out. None permits all."""
    if files is None:
        return list(candidates), []
    may: list[Candidate] = []
    refused: list[Scored] = []
    for one in candidates:
        if _may_be_told(one, files):
            may.append(one)
        else:
            refused.append(Scored(one, 0.0, (), left_out=NOT_PERMITTED))
    return may, refused


def is_among(path: str, files: Sequence[str]) -> bool:
    """Whether ``path``, relative to its project, is one of ``files`` or in one of these folders."""
    plain = posixpath.normpath(path)
    if plain.startswith(("../", "/")):
        return False
    named = [posixpath.normpath(one) for one in files]
    return any(one in (".", plain) or plain.startswith(f"{one}/") for one in named)


def _may_be_told(one: Candidate, files: Sequence[str]) -> bool:
    path = one.about.get("file_path")
    return path is None or is_among(path, files)
