"""What a node reports when its work is over, as entries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.digest import canonical_json, digest
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import NODE_ENTRY
from dcf.memory.errors import MemoryProblem
from dcf.memory.node import NewEntry
from dcf.memory.nodes.changing import write_entries
from dcf.memory.nodes.finding import node_row

_LISTS = {"failures": "failure_case", "procedures": "procedure", "reflections": "reflection"}
"""The members of a report with several texts, and the kind of entry that each becomes."""
_SUMMARY = ("summary", "eval_summary")


class ReportRefused(MemoryProblem):
    """The report of a node is wrong: {reason}."""

    code = "memory_node_report"
    hint = (
        "{summary, metrics, artifacts: [PATH], failures: [TEXT], procedures: [TEXT], reflections: "
        "[{text, confidence}]}; all but the summary may be missing, and more may be there"
    )


def artifacts_of(report: Mapping[str, Any]) -> list[str]:
    """The paths of the files that a report names. Raises ReportRefused."""
    named = report.get("artifacts") or []
    if not isinstance(named, list):
        raise ReportRefused(reason=f"artifacts is {type(named).__name__}, no list")
    paths = [one.get("path") if isinstance(one, dict) else one for one in named]
    for one in paths:
        if not isinstance(one, str) or not one:
            raise ReportRefused(reason=f"artifacts has {one!r}, which is no path")
    return [str(one) for one in paths]


def entries_of(
    report: Mapping[str, Any], artifacts: Sequence[Mapping[str, Any]], work_dir: str, run_id: str
) -> list[NewEntry]:
    """The result of the node, and each failure, procedure and reflection by itself. All have the
    digest of the whole in their metadata. Raises ReportRefused."""
    summary = next((report[name] for name in _SUMMARY if report.get(name)), None)
    if not isinstance(summary, str) or not summary.strip():
        raise ReportRefused(reason="it has no summary")
    try:
        known = digest(canonical_json([dict(report), list(artifacts), work_dir, run_id]))
    except (TypeError, ValueError) as error:
        raise ReportRefused(reason=f"it is no JSON: {error}") from error
    of_report = {"run_id": run_id, "report": known}
    apart = (*_SUMMARY, *_LISTS, "artifacts")
    more = {name: value for name, value in report.items() if name not in apart}
    made = {"artifacts": list(artifacts), "work_dir": work_dir} if artifacts else {}
    found = [NewEntry(summary, "experiment_result", {**more, **made, **of_report})]
    for name, kind in _LISTS.items():
        found += [NewEntry(*_part(name, one, kind, of_report)) for one in _list(report, name)]
    return found


def write_report(journal: Journal, node_id: str, entries: Sequence[NewEntry]) -> list[str]:
    """The ids of a report's entries in a node, in place of those of another report of its run."""
    known = entries[0].metadata
    rows = journal.connection.execute(
        "SELECT * FROM node_entries WHERE node_id = ?"
        " AND json_extract(metadata, '$.run_id') = ?"
        " AND json_extract(metadata, '$.report') IS NOT NULL ORDER BY rowid",
        (node_row(journal.connection, node_id)["id"], known["run_id"]),
    ).fetchall()
    left = [dict(row) for row in rows]
    same = [one for one in left if json.loads(one["metadata"])["report"] == known["report"]]
    if len(same) == len(entries):
        return [one["id"] for one in same]
    for one in left:
        journal.delete(NODE_ENTRY, one)
    return [one.id for one in write_entries(journal, node_id, entries, current=None)]


def _list(report: Mapping[str, Any], name: str) -> list[Any]:
    given = report.get(name) or []
    if not isinstance(given, list):
        raise ReportRefused(reason=f"{name} is {type(given).__name__}, no list")
    return given


def _part(
    name: str, given: Any, kind: str, of_report: Mapping[str, Any]
) -> tuple[str, str, dict[str, Any]]:
    fields = dict(given) if isinstance(given, dict) else {"text": given}
    text = fields.pop("text", None)
    if not isinstance(text, str) or not text.strip():
        raise ReportRefused(reason=f"{name} has {given!r}, which is no text")
    return text, kind, {**fields, **of_report}
