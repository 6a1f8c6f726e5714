"""An observation as one line of JSON: what ``dcf memory observations export`` writes.

The form is that of version 1, described in docs/how-to/observations.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dcf.memory.observation import ObservationRecord, Occurrence

VERSION = 1
"""Raised when a reader of the version before would misread a line."""
MARK = "dcf_observation"
"""The first field of a line, with the version."""

# JSON leaves them as they are; some programs end a line at them, and some terminals obey them.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029]")


def line_of(record: ObservationRecord) -> str:
    """The line, without its end: all that is known of an observation but what this memory alone
    knows (the revision, when it was written, for which agent)."""
    one = record.observation
    fields = {
        MARK: VERSION,
        "id": one.id,
        "type": one.type,
        "title": one.title,
        "subtitle": one.subtitle,
        "facts": one.facts,
        "narrative": one.narrative,
        "concepts": one.concepts,
        "artifacts": [_filled(asdict(artifact)) for artifact in one.artifacts],
        "related": one.related,
        "project": one.project,
        "workflow": one.workflow,
        "origin": _filled(asdict(one.origin)),
        "at": one.at,
        "times": one.times,
        "tokens": one.tokens,
        "seen": [_time_seen(it) for it in record.seen],
    }
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _time_seen(one: Occurrence) -> dict[str, Any]:
    return {**_filled(asdict(one.origin)), "note": one.note, "at": one.at}


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
