"""Issues of Beads: ``.beads/issues.jsonl``, one a line.

``id``, ``title``, ``description``, ``design``, ``acceptance_criteria``, ``notes``, ``status``
(open, in_progress, blocked, closed, tombstone), ``issue_type``, ``priority``, ``created_at``,
``updated_at``, ``closed_at``, ``close_reason`` and ``comments`` (``author``, ``text``,
``created_at``), as in https://github.com/steveyegge/beads (internal/types/types.go).

The first turn is what the issue says of itself, each comment is one, and the last is its closing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.memory.thread import NewThread, NewTurn, ThreadStatus
from dcf.memory.threads.readers.entry import Entry, objects_of, text_of, time_of

_STATUS: Mapping[str, ThreadStatus] = {"closed": "completed", "tombstone": "abandoned"}
_ABOUT = ("title", "description", "design", "acceptance_criteria", "notes")


class BeadsIssue:
    """See the module."""

    name = "beads_issue"

    def recognises(self, value: Mapping[str, Any]) -> bool:
        return {"id", "title", "status", "issue_type"} <= value.keys()

    def threads(self, entries: Sequence[Entry], stem: str) -> Iterator[NewThread]:
        for entry in entries:
            issue = entry.value
            id_ = text_of(issue, "id")
            if id_:
                yield NewThread(
                    source_type=self.name,
                    source_id=id_,
                    project=id_.rpartition("-")[0],
                    title=text_of(issue, "title"),
                    status=_STATUS.get(text_of(issue, "status"), "active"),
                    turns=tuple(_turns(issue)),
                    started_at=time_of(issue.get("created_at")),
                )


def _turns(issue: Mapping[str, Any]) -> Iterator[NewTurn]:
    about = "\n\n".join(text for name in _ABOUT if (text := text_of(issue, name)))
    role = text_of(issue, "issue_type") or "issue"
    yield NewTurn(role, about, at=time_of(issue.get("created_at")))
    for comment in objects_of(issue, "comments"):
        role = text_of(comment, "author") or "comment"
        yield NewTurn(role, text_of(comment, "text"), at=time_of(comment.get("created_at")))
    if text_of(issue, "status") == "closed":
        reason = text_of(issue, "close_reason") or "closed"
        yield NewTurn("closing", reason, at=time_of(issue.get("closed_at")))
