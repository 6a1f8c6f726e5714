"""Issues of Beads: ``.beads/issues.jsonl``, one a line. See docs/reference/transcripts.md.

The first turn is what the issue says of itself, each comment is one, and the last is its closing.
What else is known of it (labels, dependencies, whose it is) is told in a turn of the role "fields".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dcf.memory.thread import NewTurn, Outline, ThreadStatus
from dcf.memory.threads.piece import Ended, Piece, Said
from dcf.memory.threads.readers.entry import (
    Reading,
    SimpleReading,
    objects_of,
    text_of,
    time_of,
)
from dcf.memory.threads.readers.tally import Tally

_STATUS: Mapping[str, ThreadStatus] = {"closed": "completed", "tombstone": "abandoned"}
_ABOUT = ("title", "description", "design", "acceptance_criteria", "notes")
_TOLD = frozenset(
    {*_ABOUT, "id", "_type", "comments", "close_reason", "closed_at", "created_at", "updated_at"}
)


class BeadsIssue:
    """See the module."""

    name = "beads_issue"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return {"id", "title", "status", "issue_type"} <= value.keys()

    def reading(self, path: Path, tally: Tally) -> Reading:
        return SimpleReading(_pieces, path, tally)


def _pieces(issue: Mapping[str, Any], path: Path, tally: Tally) -> Iterator[Piece]:
    id_ = text_of(issue, "id")
    if not id_ or not text_of(issue, "title"):
        kind = text_of(issue, "_type", "type") or "entry"
        yield from tally.keep_unknown(kind, issue, path.stem)
        yield Ended(Outline(path.stem, title=f"what {path.stem} has besides issues"))
        return
    for turn in _turns(issue):
        yield Said(id_, turn)
    yield Ended(
        Outline(
            id_,
            project=id_.rpartition("-")[0],
            title=text_of(issue, "title"),
            status=_STATUS.get(text_of(issue, "status"), "active"),
            started_at=time_of(issue.get("created_at")),
        )
    )


def _turns(issue: Mapping[str, Any]) -> Iterator[NewTurn]:
    about = "\n\n".join(text for name in _ABOUT if (text := text_of(issue, name)))
    role = text_of(issue, "issue_type") or "issue"
    yield NewTurn(role, about, at=time_of(issue.get("created_at")), key="issue")
    fields = {name: value for name, value in issue.items() if name not in _TOLD}
    if fields:
        yield NewTurn("fields", json.dumps(fields, ensure_ascii=False), key="fields")
    for comment in objects_of(issue, "comments"):
        role = text_of(comment, "author") or "comment"
        number = comment.get("id")
        key = f"comment {number}" if isinstance(number, int | str) else ""
        at = time_of(comment.get("created_at"))
        yield NewTurn(role, text_of(comment, "text"), at=at, key=key)
    if text_of(issue, "status") == "closed":
        reason = text_of(issue, "close_reason") or "closed"
        yield NewTurn("closing", reason, at=time_of(issue.get("closed_at")), key="closing")
