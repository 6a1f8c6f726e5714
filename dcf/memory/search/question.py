"""What is asked of a search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from dcf.memory.nodes import Choice
from dcf.memory.observation import Concept, ObservationType
from dcf.memory.observations.finding import Filter
from dcf.memory.search.found import KINDS, NODE_KINDS, Kind
from dcf.problem import Problem
from dcf.search import beginnings, telling_words, words

WORDS = 64
"""More words of one query than these say nothing more."""
LONGEST_QUERY = 10_000
"""Characters of a query that are looked for: what makes its words takes time for each of them."""
MOST = 1_000
"""Texts that one search may give."""


@dataclass(frozen=True, slots=True)
class Question:
    """``agent_ids`` and ``projects``: whose memory (both None: everybody's). ``node``: only what is
    read in this node, which is what its ancestors and itself have, and what is of its project;
    ``nodes``: only what was written into these. Beside either the first two say nothing.
    ``entry_kinds``, ``having`` and ``verified``: only such entries of them, as ``Choice`` says.
    ``labels`` and ``tags``: only blocks of one of these labels, and passages with all of these
    tags; either leaves out kinds that have none. ``ended``: no passages with one of these tags (a
    tag None: with none of the others) that were kept until its time, in ms. ``since`` and
    ``until``: in ms, both included.
    ``weights`` multiply the score of blocks by label. ``roles`` and ``session_id``: only such
    messages. ``types``, ``concepts``, ``source_types``, ``source_ids``, ``workflows``,
    ``turn``, ``topic``, ``pinned``: only observations of one of these types, about one of these
    concepts, from one of these kinds of source, from one of these sources, of one of these
    workflows, of this turn, with each word of the topic, that are pinned or not."""

    query: str
    k: int = 10
    agent_ids: Sequence[str] | None = None
    projects: Sequence[str] | None = None
    node: str | None = None
    nodes: Sequence[str] | None = None
    entry_kinds: Sequence[str] = ()
    having: Sequence[str] = ()
    verified: bool = False
    kinds: Sequence[Kind] = KINDS
    labels: Sequence[str] = ()
    tags: Sequence[str] = ()
    ended: Sequence[tuple[str | None, int]] = ()
    since: int | None = None
    until: int | None = None
    roles: Sequence[str] = ()
    session_id: str | None = None
    types: Sequence[str] = ()
    concepts: Sequence[str] = ()
    source_types: Sequence[str] = ()
    source_ids: Sequence[str] = ()
    workflows: Sequence[str] = ()
    turn: int | None = None
    topic: str | None = None
    pinned: bool | None = None
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The words that are looked for, each once: without stop words where there are others."""
        small = (word.lower() for word in telling_words(self.query))
        return list(dict.fromkeys(small))[:WORDS]

    @property
    def beginnings(self) -> list[str]:
        """How the words begin that may not be English; each once."""
        return list(dict.fromkeys(beginnings(words(self.query), in_doubt=True)))[:WORDS]

    @property
    def wanted(self) -> tuple[Kind, ...]:
        """The kinds that the filters leave."""
        left = [kind for kind in self._there if kind in self.kinds]
        having = {
            "block": bool(self.labels),
            "passage": bool(self.tags),
            "message": bool(self.roles) or self.session_id is not None,
            "observation": self._chooses_observations,
            "entry": not self.choice.is_all,
            # No filter is of these alone.
            "thread": False,
            "document": False,
        }
        return tuple(kind for kind in left if having[kind] or not any(having.values()))

    @property
    def is_of_nodes(self) -> bool:
        """Whether only what is read in nodes is searched."""
        return self.node is not None or self.nodes is not None

    @property
    def choice(self) -> Choice:
        """Which entries of nodes are wanted."""
        return Choice(self.entry_kinds, self.having, self.verified)

    @property
    def is_of_everybody(self) -> bool:
        """Whether all that is remembered is searched."""
        return self.agent_ids is None and self.projects is None and not self.is_of_nodes

    @property
    def _there(self) -> tuple[Kind, ...]:
        """The kinds that are where the question looks."""
        if self.node is not None:
            return NODE_KINDS
        return KINDS if self.nodes is None else ("entry",)

    @property
    def is_filtered(self) -> bool:
        """Whether not all texts of a kind are wanted."""
        if self.since is not None or self.until is not None or self.session_id is not None:
            return True
        return any((self.labels, self.tags, self.ended, self.roles)) or self._chooses_observations

    @property
    def _chooses_observations(self) -> bool:
        several = (self.types, self.concepts, self.source_types, self.source_ids, self.workflows)
        one = (self.turn, self.topic, self.pinned)
        return any(several) or any(said is not None for said in one)

    @property
    def observations(self) -> Filter:
        """Which observations are wanted, of whichever project."""
        return Filter(
            workflows=self.workflows,
            types=cast("Sequence[ObservationType]", self.types),
            concepts=cast("Sequence[Concept]", self.concepts),
            source_types=self.source_types,
            source_ids=self.source_ids,
            turn=self.turn,
            topic=self.topic,
            pinned=self.pinned,
            since=self.since,
            until=self.until,
        )


def question_problems(question: Question) -> Iterator[Problem]:
    """All that is wrong with a question. Any text may be the query."""
    if not 1 <= question.k <= MOST:
        yield Problem("memory_search_k", f"k is {question.k}, not between 1 and {MOST}", "/k")
    if not question.choice.is_all and not question.is_of_nodes:
        yield Problem(
            "memory_search_nodes",
            "entries are chosen, and no nodes are named",
            "/node",
            "name the node or the nodes in which they are looked for",
        )
    for kind in question.kinds:
        if kind not in KINDS:
            yield Problem(
                "memory_search_kind", f"{kind!r} is not one of {', '.join(KINDS)}", "/kinds"
            )
    for label, weight in question.weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            yield Problem(
                "memory_search_weight",
                f"the weight of {label!r} is {weight}, not a number from 0 on",
                f"/weights/{label}",
            )
