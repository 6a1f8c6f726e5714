"""From places to what stands there, if the filters of the question leave it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.document import piece_citation
from dcf.memory.nodes import chosen_ids, lineage_rows, shadowed_ids
from dcf.memory.search.entry import TABLES, entry_of
from dcf.memory.search.filtering import left
from dcf.memory.search.found import KINDS, Found, Kind
from dcf.memory.search.place import Places
from dcf.memory.search.question import Question

_LONGEST = 2_000
"""Characters of a text that is found."""

_NEUTRAL = 0.5
"""The salience of what has none."""


_OF_PROJECTS = ("observation", "thread", "entry", "document")
_SEEN = " AND id NOT IN (SELECT value FROM json_each(?2))"
_CHOSEN = " AND id IN (SELECT value FROM json_each(?2))"
_TAGS = {"passage": "tags", "observation": "concepts"}
"""The column of what a text is marked with."""


def found_at(
    connection: Connection, places: Sequence[int], question: Question
) -> list[tuple[Found | None, float]]:
    """What stands at each of the places, with scores still to be filled in, and its salience; None
    if nothing that is wanted."""
    wanted = left(connection, np.array(places, dtype=np.int64), question)
    documents = {
        row["place"]: (row["kind"], row["ref"])
        for row in connection.execute(
            "SELECT place, kind, ref FROM search_documents"
            " WHERE place IN (SELECT value FROM json_each(?))",
            (json.dumps(wanted.tolist()),),
        )
    }
    rows = {
        (kind, row["id"]): row
        for kind in question.wanted
        for row in _rows(connection, kind, [ref for of, ref in documents.values() if of == kind])
    }
    return [_one(connection, documents.get(one), rows, question) for one in places]


def saliences_at(connection: Connection, places: Places, question: Question) -> Mapping[int, float]:
    """How salient the passages are that stand at those of the places where one is wanted."""
    wanted = left(connection, places, question)
    cursor = connection.cursor()
    # Bare tuples: rows by name cost as much as the search.
    cursor.row_factory = None
    rows = cursor.execute(
        "SELECT d.place, p.salience FROM search_documents d JOIN passages p ON p.id = d.ref"
        # The plus has SQLite look places up: else it would go through all that is of the kind.
        " WHERE +d.kind = 'passage' AND d.place IN (SELECT value FROM json_each(?))",
        (json.dumps(wanted.tolist()),),
    )
    return dict(rows.fetchall())


def _rows(connection: Connection, kind: Kind, ids: Sequence[str]) -> list[dict[str, Any]]:
    if not ids:
        return []
    rows = connection.execute(
        f"SELECT * FROM {TABLES[kind]} WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(ids),),
    )
    return [dict(row) for row in rows]


def _one(
    connection: Connection,
    document: tuple[Kind, str] | None,
    rows: Mapping[tuple[Kind, str], Mapping[str, Any]],
    question: Question,
) -> tuple[Found | None, float]:
    row = None if document is None else rows.get(document)
    if document is None or row is None:
        return None, _NEUTRAL
    if document[0] == "block":
        return _block(connection, row, question), _NEUTRAL
    entry = entry_of(document[0], row)
    text = "" if entry is None else entry.text
    at = row["at" if document[0] == "observation" else "created_at"]
    salience = row["salience"] if document[0] == "passage" else _NEUTRAL
    return _found(document[0], row, text, question, at), salience


def newest(connection: Connection, question: Question) -> list[Found]:
    """The newest texts, for a query without words: it tells nothing about what is wanted."""
    found: list[Found] = []
    lineage = [] if question.node is None else lineage_rows(connection, question.node)
    projects = [lineage[0]["project"]] if lineage else question.projects
    scoped = "" if question.is_of_everybody else " WHERE {} IN (SELECT value FROM json_each(?1))"
    theirs = scoped.format("agent_id")
    seen = "" if not question.is_of_nodes else _SEEN if question.choice.is_all else _CHOSEN
    tables = {
        "message": f"SELECT id FROM messages{theirs} ORDER BY created_at DESC, seq DESC",
        "passage": f"SELECT id FROM passages{theirs} ORDER BY created_at DESC, id DESC",
        "block": "SELECT id FROM blocks WHERE"
        f" id IN (SELECT block_id FROM held_blocks{theirs}) ORDER BY updated_at DESC, id",
        "observation": f"SELECT id FROM observations{scoped.format('project')}"
        " ORDER BY at DESC, id DESC",
        "thread": f"SELECT id FROM searched_turns{scoped.format('project')}"
        " ORDER BY created_at DESC, thread_id, seq DESC",
        "document": f"SELECT id FROM searched_pieces{scoped.format('project')}"
        " ORDER BY created_at DESC, document_id, seq",
        "entry": "SELECT id FROM node_entries"
        f"{scoped.format('node_id')}{seen}"
        " ORDER BY created_at DESC, rowid DESC",
    }
    whose: dict[Kind, Sequence[str] | None] = dict.fromkeys(KINDS, question.agent_ids)
    whose |= {"observation": projects, "thread": projects, "document": projects}
    whose["entry"] = [node["id"] for node in lineage] or question.nodes
    for kind in question.wanted:
        taken = 0
        values = [] if question.is_of_everybody else [json.dumps(list(whose[kind] or ()))]
        if kind == "entry" and question.is_of_nodes:
            values.append(json.dumps(_sorted_out(connection, question, whose[kind] or ())))
        for (ref,) in connection.execute(tables[kind], values):
            place = connection.execute(
                "SELECT place FROM search_documents WHERE kind = ? AND ref = ?", (kind, ref)
            ).fetchone()
            one = None if place is None else found_at(connection, [place[0]], question)[0][0]
            if one is not None:
                found.append(one)
                taken += 1
            if taken >= question.k:
                break
    found.sort(key=lambda one: (-one.at, -(one.seq or 0)))
    return found[: question.k]


def _sorted_out(connection: Connection, question: Question, node_ids: Sequence[str]) -> list[str]:
    """The entries of these nodes that are wanted; where all are, those that are not seen."""
    shadowed = shadowed_ids(connection, node_ids)
    if question.choice.is_all:
        return shadowed
    return chosen_ids(connection, question.choice, node_ids, shadowed)


def _block(connection: Connection, row: Mapping[str, Any], question: Question) -> Found:
    """A block as the first of those who are asked, or of all, calls it, by a label that is asked
    where one is."""
    holders = connection.execute(
        "SELECT agent_id, label FROM held_blocks WHERE block_id = ? ORDER BY agent_id, label",
        (row["id"],),
    ).fetchall()
    if not question.is_of_everybody:
        holders = [one for one in holders if one["agent_id"] in (question.agent_ids or ())]
    named = [one for one in holders if not question.labels or one["label"] in question.labels]
    agent_id, label = (named[0]["agent_id"], named[0]["label"]) if named else (None, row["label"])
    known = {**row, "agent_id": agent_id, "label": label}
    return _found("block", known, row["value"], question, row["updated_at"])


def _found(kind: Any, row: Mapping[str, Any], text: str, question: Question, at: int) -> Found:
    return Found(
        kind=kind,
        ref=row["id"],
        agent_id=row["agent_id"],
        label=row.get("label"),
        text=text if len(text) <= _LONGEST else excerpt(text, question.words),
        score=0.0,
        words=0.0,
        near=0.0,
        similarity=None,
        at=at,
        seq=row.get("seq"),
        role=row.get("role"),
        sender=row.get("sender"),
        tags=_tags(kind, row),
        project=row["project"] if kind in _OF_PROJECTS else None,
        node_id=row.get("node_id"),
        citation=piece_citation(row) if kind == "document" else None,
    )


def _tags(kind: Kind, row: Mapping[str, Any]) -> tuple[str, ...]:
    if kind == "entry":
        return (row["kind"],)
    return tuple(json.loads(row[_TAGS[kind]])) if kind in _TAGS else ()


def excerpt(text: str, words: list[str]) -> str:
    """The text, or the part of a long one that is around the first of ``words`` in it."""
    if len(text) <= _LONGEST:
        return text
    small = text.lower()
    at = min((place for word in words if (place := small.find(word)) >= 0), default=0)
    start = min(max(at - _LONGEST // 4, 0), len(text) - _LONGEST)
    cut = text[start : start + _LONGEST]
    return f"{'… ' if start else ''}{cut}{' …' if start + _LONGEST < len(text) else ''}"
