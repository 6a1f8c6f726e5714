"""An observation's fields and their columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dcf.memory.audit.edit import digest_of
from dcf.memory.audit.entity import Row
from dcf.memory.checking import json_of, text_problems
from dcf.memory.observation import (
    ACTIONS,
    ARTIFACT_TYPES,
    CONCEPTS,
    TYPES,
    ArrivingObservation,
    Artifact,
    NewObservation,
    Observation,
    Origin,
)
from dcf.problem import Problem

LONGEST_TITLE = 120
"""Characters: an index has a line for each."""
MOST_FACTS = 100
LONGEST_TEXT = 20_000
"""Characters of a fact or a narrative. What is longer is a source and not what is known of it."""

OBSERVATION_ID = re.compile(r"observation-[0-9a-f-]{1,36}")
_LISTS = ("facts", "concepts", "artifacts", "related")


def observation_of(row: Row) -> Observation:
    """The observation in a row."""
    known = {name: value for name, value in row.items() if name not in _NOT_FIELDS}
    for name in _LISTS:
        known[name] = tuple(json.loads(row[name]))
    known["artifacts"] = tuple(Artifact(**one) for one in known["artifacts"])
    known |= {name: bool(row[name]) for name in ("pinned", "extracted")}
    origin = Origin(row["source_type"], row["source_id"], row["turn"], row["state"])
    return Observation(**known, origin=origin)


_NOT_FIELDS = {"source_type", "source_id", "turn", "state", "digest", "said"}


def columns_of(new: NewObservation) -> dict[str, Any]:
    """What of a row the observation itself says."""
    origin = new.origin
    return {
        "project": new.project,
        "workflow": new.workflow,
        "type": new.type,
        "title": new.title,
        "subtitle": new.subtitle,
        "facts": json_of(list(new.facts)),
        "narrative": new.narrative,
        "concepts": json_of(list(dict.fromkeys(new.concepts))),
        "artifacts": json_of([asdict(one) for one in dict.fromkeys(new.artifacts)]),
        "related": json_of(list(dict.fromkeys(new.related))),
        "source_type": origin.source_type,
        "source_id": origin.source_id,
        "turn": origin.turn,
        "state": origin.state,
        "agent_id": new.agent_id,
        "extracted": int(new.extracted),
        "digest": _digest(new, [origin.source_type, origin.source_id, origin.turn, origin.state]),
    }


def problems(place: str, new: NewObservation) -> Iterator[Problem]:
    """All that is wrong with a new observation at ``place``."""
    yield from _word_problems(f"{place}/type", "memory_observation_type", new.type, TYPES)
    for number, concept in enumerate(new.concepts):
        where = f"{place}/concepts/{number}"
        yield from _word_problems(where, "memory_observation_concept", concept, CONCEPTS)
    yield from _line_problems(f"{place}/title", new.title)
    yield from _long_problems(f"{place}/subtitle", new.subtitle)
    yield from _long_problems(f"{place}/narrative", new.narrative)
    if len(new.facts) > MOST_FACTS:
        yield Problem(
            "memory_observation_facts",
            f"there are {len(new.facts)} facts; an observation has at most {MOST_FACTS}",
            f"{place}/facts",
            "make several observations of it",
        )
    for number, fact in enumerate(new.facts):
        yield from _long_problems(f"{place}/facts/{number}", fact, filled=True)
    for number, artifact in enumerate(new.artifacts):
        yield from _artifact_problems(f"{place}/artifacts/{number}", artifact)
    yield from _origin_problems(place, new.origin)
    for name in ("project", "workflow", "note"):
        yield from text_problems(f"{place}/{name}", getattr(new, name))
    for number, uri in enumerate(new.related):
        yield from text_problems(f"{place}/related/{number}", uri, filled=True)


def arriving_problems(place: str, one: ArrivingObservation) -> Iterator[Problem]:
    """All that is wrong with an observation of another memory at ``place``."""
    yield from problems(place, one.new)
    for number, seen in enumerate(one.seen):
        yield from _origin_problems(f"{place}/seen/{number}", seen.origin)
        yield from text_problems(f"{place}/seen/{number}/note", seen.note)
    if one.id and not OBSERVATION_ID.fullmatch(one.id):
        yield Problem(
            "memory_observation_id",
            f"{place}/id is {one.id!r}, not observation- with up to 36 hexadecimal digits and -",
            f"{place}/id",
            "leave it out: the observation gets one",
        )


def shared_digest(new: NewObservation) -> str:
    """By which an observation is known that another source made with the same words."""
    return _digest(new, ["any source", new.workflow])


def _digest(new: NewObservation, of: Iterable[object]) -> str:
    said = [new.type, new.title, new.subtitle, new.narrative, *new.facts]
    return digest_of(json_of([*of, new.project, *said]))


def _word_problems(place: str, code: str, word: str, known: Sequence[str]) -> Iterator[Problem]:
    if word not in known:
        yield Problem(code, f"{place} is {word!r}, not one of {', '.join(known)}", place)


def _line_problems(place: str, text: str) -> Iterator[Problem]:
    yield from text_problems(place, text, filled=True)
    if len(text) > LONGEST_TITLE or len(text.splitlines()) > 1:
        yield Problem(
            "memory_observation_title",
            f"{place} has {len(text)} characters in {len(text.splitlines())} lines; it is one line"
            f" of at most {LONGEST_TITLE}",
            place,
            "say more in the subtitle, the facts and the narrative",
        )


def _long_problems(place: str, text: str, *, filled: bool = False) -> Iterator[Problem]:
    yield from text_problems(place, text, filled=filled)
    if len(text) > LONGEST_TEXT:
        yield Problem(
            "memory_observation_text",
            f"{place} has {len(text):,} characters; it may have {LONGEST_TEXT:,}",
            place,
            "say what is known of it, and name the source",
        )


def _artifact_problems(place: str, one: Artifact) -> Iterator[Problem]:
    code = "memory_observation_artifact"
    yield from _word_problems(f"{place}/type", code, one.type, ARTIFACT_TYPES)
    if one.action is not None:
        yield from _word_problems(f"{place}/action", code, one.action, ACTIONS)
    yield from text_problems(f"{place}/path", one.path, filled=True)


def _origin_problems(place: str, origin: Origin) -> Iterator[Problem]:
    yield from text_problems(f"{place}/source_type", origin.source_type, filled=True)
    yield from text_problems(f"{place}/source_id", origin.source_id, filled=True)
    if origin.state is not None:
        yield from text_problems(f"{place}/state", origin.state, filled=True)
    if origin.turn is not None and origin.turn < 0:
        yield Problem(
            "memory_observation_turn",
            f"{place}/turn is {origin.turn}; turns count from 0 or 1",
            f"{place}/turn",
        )
