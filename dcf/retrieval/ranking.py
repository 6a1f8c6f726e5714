"""One list of candidates of all kinds, in one of two modes.

``ranked`` is reciprocal rank fusion (Cormack, Clarke and Büttcher: Reciprocal Rank Fusion
outperforms Condorcet and individual Rank Learning Methods, SIGIR 2009). Ranks are fused and no
scores: those of one search say nothing in another.

``guide`` is the formula that augmented retrieval was first described with: overlap of words counts
0.7 in memory and all in code, recency 0.25, a tag of note 0.1. It is kept to be compared with:
recency drowns relevance in it.

What a question names besides its words lifts what has it: tags, and nearness to a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TypeGuard

from dcf.retrieval.candidate import Candidate, Scored
from dcf.retrieval.word_table import WordTable
from dcf.search import words

_K = 60
"""As in the paper: how little the first places are worth above those behind them."""
_LEADING = 3
"""Places of a stack trace that come before all else: more would leave no room for what is known of
the error."""
_LATER, _BESIDE = 0.01, 0.8
"""What each of them is worth less than the one before, and of what all else is worth, so that no
tag or file lifts that above them."""
_LEAST_LIKENESS = 0.2
"""Everything is a little like everything else: of the tools of two public sets (MetaTool, Berkeley
Function Calling Leaderboard) 7 % and 8 % answer questions of the other set; with 0.1 13 % do."""
_OUTDATED = 0.5
"""What a text is worth that its file no longer says: it comes behind all that has a place in both
lists, the fiftieth in each is worth more than half of the first."""
_NO_WORD = re.compile(r"[^\w]+", re.ASCII)
_OVERLAP, _RECENCY, _TAG = 0.7, 0.25, 0.10
_TAGS = frozenset({"error", "fix", "decision", "runlog"})
_DECAY = 0.1
"""Of recency, in seven days."""
_ABOUT = ("file_path", "source", "title")
_WEEK_MS = 7 * 24 * 60 * 60 * 1000

TAGS_WORTH = 0.05
"""Of a score that is at most 1: what all the tags of a question are worth together."""
SAME_FILE, SAME_FOLDER, SAME_TOP_FOLDER = 0.05, 0.03, 0.01
"""So much is some four places at the top of a list, and fewer the further behind."""


def fused(query: str, candidates: Sequence[Candidate]) -> list[Scored]:
    """All candidates, the best first. Each has a place in two lists: that of its own source, and
    one of all texts together by the words of the query (BM25), in which different kinds can be
    compared. Of two that are equal the newer one comes first: recency decides nothing else. Lines
    that a stack trace in ``query`` names come before all else, as a trace has seldom their words:
    the first ``_LEADING``, in its order."""
    table = WordTable()
    table.put((number, _said_of(one)) for number, one in enumerate(candidates))
    together = {number: place for place, number in enumerate(table.best(query), 1)}
    said = table.shares(query) if words(query) else None
    scored = [
        _fused_one(
            *(one, together.get(number)),
            relevance=None if said is None else _relevance(said.get(number, 0.0), one),
        )
        for number, one in enumerate(candidates)
    ]
    return sorted(_led(scored), key=lambda one: (-one.score, -one.candidate.timestamp))


def _led(scored: Sequence[Scored]) -> list[Scored]:
    """``scored`` with the worth of what a stack trace names, if one does."""
    if not any(_leads(one.candidate.frame) for one in scored):
        return list(scored)
    return [replace(one, score=_led_score(one.score, one.candidate.frame)) for one in scored]


def _led_score(score: float, frame: int | None) -> float:
    return 1 - _LATER * frame if _leads(frame) else round(_BESIDE * score, 6)


def _leads(frame: int | None) -> TypeGuard[int]:
    return frame is not None and frame < _LEADING


def _said_of(one: Candidate) -> str:
    """The text, with what it is tagged, where it stands and what it is called: words of the query
    that its own search found there are not missing from it. Of code the text alone: all of it
    stands in files, and a stack trace consists of their names."""
    if one.kind == "code":
        return one.text
    about = (one.about.get(name) for name in _ABOUT)
    return "\n".join([one.text, *one.tags, *(word for word in about if word)])


def merged(ranked: Sequence[Scored]) -> list[Scored]:
    """``ranked`` with each text once, whatever it is of: the best that says it, blanks and ends of
    lines aside, which names under ``also`` where else it stands; what is outdated is no best."""
    same: dict[str, list[Scored]] = {}
    for one in ranked:
        same.setdefault(" ".join(one.candidate.text.split()), []).append(one)
    current = (sorted(some, key=lambda one: bool(one.candidate.outdated)) for some in same.values())
    return [_with_others(best, others) for best, *others in current]


def _with_others(best: Scored, others: Sequence[Scored]) -> Scored:
    if not others:
        return best
    more = [
        name
        for one in others
        for name in (one.candidate.citation, *one.candidate.about.get("also", ()))
    ]
    also = [*best.candidate.about.get("also", ()), *more]
    candidate = replace(best.candidate, about={**best.candidate.about, "also": also})
    return replace(
        best, candidate=candidate, why=(*best.why, f"the same stands in {len(more)} more")
    )


def current_first(ranked: Sequence[Scored]) -> list[Scored]:
    """``ranked`` with what is outdated worth ``_OUTDATED`` of what it would be, and saying why."""
    if not any(one.candidate.outdated for one in ranked):
        return list(ranked)
    return sorted(map(_aged, ranked), key=lambda one: -one.score)


def _aged(one: Scored) -> Scored:
    why = one.candidate.outdated
    if not why:
        return one
    return replace(one, score=round(one.score * _OUTDATED, 6), why=(*one.why, why))


def _relevance(said: float, one: Candidate) -> float:
    """That it answers by its words or by what its own search says: 1 by either is 1."""
    likeness = one.likeness or 0.0
    return round(1 - (1 - said) * (1 - (likeness if likeness >= _LEAST_LIKENESS else 0)), 3)


def _fused_one(one: Candidate, together: int | None, relevance: float | None) -> Scored:
    places = [one.place] if together is None else [one.place, together]
    score = worth(places)
    by_words = "says no word of the query" if together is None else f"{together}. of all by words"
    why = [f"{one.place}. of {one.kind}: {one.reason}", by_words]
    if one.times > 1:
        why.append(f"logged {one.times} times")
    return Scored(one, round(score, 6), tuple(why), relevance=relevance)


def worth(places: Sequence[int]) -> float:
    """What the places of a text in two lists are worth together, between 0 and 1; one that a list
    does not have is left out."""
    # Of the most there can be.
    return sum((_K + 1) / (_K + place) for place in places) / 2


def by_guide(query: str, candidates: Sequence[Candidate], now: int) -> list[Scored]:
    """All candidates by that formula, at ``now`` (ms), the best first; those that are equal by
    their places in their own lists, code first."""
    asked = _tokens(query)
    code_first = sorted(candidates, key=lambda one: one.kind != "code")
    scored = [_guided_one(one, asked, now) for one in code_first]
    return sorted(scored, key=lambda one: (-one.score, one.candidate.place))


def _guided_one(one: Candidate, asked: frozenset[str], now: int) -> Scored:
    overlap = _jaccard(asked, _tokens(one.text))
    if one.kind != "memory":
        return Scored(one, overlap, (f"overlap {overlap:.2f}",))
    recency = math.exp(-_DECAY * (now - one.timestamp) / _WEEK_MS)
    tag = 0.0 if _TAGS.isdisjoint(one.tags) else _TAG
    parts = (f"overlap {overlap:.2f}", f"recency {recency:.2f}", f"tag {tag:.2f}")
    return Scored(one, overlap * _OVERLAP + recency * _RECENCY + tag, parts)


def _tokens(text: str) -> frozenset[str]:
    return frozenset(filter(None, _NO_WORD.sub(" ", text.lower()).split(" ")))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    either = one | other
    return len(one & other) / len(either) if either else 0.0


def boosted(scored: Sequence[Scored], tags: Sequence[str], path: str | None) -> list[Scored]:
    """``scored`` by how well each answers and by how much it has of ``tags`` and is near ``path``;
    without either exactly as it is. Scores stay between 0 and 1: what the boosts may add at most,
    the rest counts less. ``why`` says what each of them added."""
    asked = frozenset(tags)
    most = TAGS_WORTH * bool(asked) + SAME_FILE * (path is not None)
    if not most:
        return list(scored)
    lifted = (_lifted(one, asked, path, most) for one in scored)
    return sorted(lifted, key=lambda one: -one.score)


def _lifted(one: Scored, asked: frozenset[str], path: str | None, most: float) -> Scored:
    score = (1 - most) * one.score
    why = list(one.why)
    there = sorted(asked.intersection(one.candidate.tags))
    if there:
        worth = TAGS_WORTH * len(there) / len(asked)
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
