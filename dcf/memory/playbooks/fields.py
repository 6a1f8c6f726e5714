"""A playbook's fields and their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from dcf.memory.audit.clean_text import clean
from dcf.memory.audit.entity import Row
from dcf.memory.checking import text_problems
from dcf.memory.observations.fields import OBSERVATION_ID
from dcf.memory.playbook import Playbook, PlaybookUse
from dcf.memory.playbooks.error_words import error_words
from dcf.problem import Problem

LONGEST = {"pattern": 4_000, "resolution": 20_000, "owner": 120}
"""Characters."""


def playbook_of(row: Row) -> Playbook:
    """The playbook in a row."""
    known = {field.name: row[field.name] for field in fields(Playbook)}
    uses = tuple(PlaybookUse(**one) for one in json.loads(row["uses"]))
    return Playbook(**{**known, "sources": tuple(json.loads(row["sources"])), "uses": uses})


def problems(given: Mapping[str, str]) -> Iterator[Problem]:
    """What is wrong with the texts ``given``, by their names."""
    for name, text in given.items():
        yield from text_problems(f"/{name}", text, filled=name in LONGEST)
        most = LONGEST.get(name)
        if most is not None and len(text) > most:
            yield Problem(
                "memory_playbook_long",
                f"/{name} has {len(text):,} characters; it may have {most:,}",
                f"/{name}",
                "keep the lines that tell this error from others, and name the source of the rest",
            )
    if given.get("pattern", "").strip():
        found = error_words(clean(given["pattern"]))
        if not found.words and not found.codes:
            yield Problem(
                "memory_playbook_pattern",
                "/pattern has no word by which this error is told from others",
                "/pattern",
                "give the text of the error; numbers, ids and paths are not compared",
            )


def source_problems(sources: Sequence[str]) -> Iterator[Problem]:
    """What is wrong with the ids of observations that a playbook was made from."""
    for number, one in enumerate(sources):
        if not OBSERVATION_ID.fullmatch(one):
            place = f"/sources/{number}"
            message = f"{place} is no id of an observation"
            hint = "`dcf memory observations list --json` has their ids"
            yield Problem("memory_playbook_source", message, place, hint)


def uses_of(uses: tuple[PlaybookUse, ...]) -> list[dict[str, Any]]:
    """Uses as they are kept."""
    return [asdict(one) for one in uses]
