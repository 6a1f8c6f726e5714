"""What a question names besides its words lifts what has it: tags, and nearness to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from dcf.retrieval.candidate import Scored

TAGS = 0.05
"""Of a score that is at most 1: what all the tags of a question are worth together."""
SAME_FILE, SAME_FOLDER, SAME_TOP_FOLDER = 0.05, 0.03, 0.01
"""So much is some four places at the top of a list, and fewer the further behind."""


def boosted(scored: Sequence[Scored], tags: Sequence[str], path: str | None) -> list[Scored]:
    """``scored`` by how well each answers and by how much it has of ``tags`` and is near ``path``;
    without either exactly as it is. Scores stay between 0 and 1: what the boosts may add at most,
    the rest counts less. ``why`` says what each of them added."""
    asked = frozenset(tags)
    most = TAGS * bool(asked) + SAME_FILE * (path is not None)
    if not most:
        return list(scored)
    lifted = (_lifted(one, asked, path, most) for one in scored)
    return sorted(lifted, key=lambda one: -one.score)


def _lifted(one: Scored, asked: frozenset[str], path: str | None, most: float) -> Scored:
    score = (1 - most) * one.score
    why = list(one.why)
    there = sorted(asked.intersection(one.candidate.tags))
    if there:
        worth = TAGS * len(there) / len(asked)
        score += worth
        why.append(f"tagged {', '.join(there)}: +{worth:.3f}")
    own = one.candidate.about.get("file_path")
    if path is not None and own is not None:
        worth, what = _nearness(own, path)
        score += worth
        why += [f"{what} {path}: +{worth:.3f}"] if worth else []
    return replace(one, score=round(score, 6), why=tuple(why))


def _nearness(own: str, path: str) -> tuple[float, str]:
    mine, theirs = PurePosixPath(own), PurePosixPath(path)
    if mine == theirs:
        return SAME_FILE, "the file"
    if mine.parent == theirs.parent:
        return SAME_FOLDER, "in the folder of"
    in_folders = len(mine.parts) > 1 and len(theirs.parts) > 1
    if in_folders and mine.parts[0] == theirs.parts[0] not in ("/", ".."):
        return SAME_TOP_FOLDER, "in the top folder of"
    return 0.0, ""
