"""Which texts the filters of a question leave."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.entry import TABLES
from dcf.memory.search.found import Kind
from dcf.memory.search.place import CODES, Places, codes_at
from dcf.memory.search.question import Question

_Condition = tuple[str, list[object]]
_ANY: _Condition = ("1", [])
_IN = "IN (SELECT value FROM json_each(?))"
# Times and tags are two lists in one order.
_NOT_ENDED = f"""NOT EXISTS (
  SELECT 1 FROM json_each(?) AS ends JOIN json_each(?) AS named USING (key)
  WHERE created_at <= ends.value
    AND (named.value IN (SELECT value FROM json_each(passages.tags)) OR named.value IS NULL
      AND NOT EXISTS (SELECT 1 FROM json_each(passages.tags) AS own WHERE own.value {_IN})))"""


def left(connection: Connection, places: Places, question: Question) -> Places:
    """Those of ``places``, in their order, whose texts are wanted. What has no text there is left
    where nothing of it would be asked."""
    codes = codes_at(places)
    kept = np.zeros(len(places), dtype=np.bool_)
    for kind in question.wanted:
        of_kind = codes == CODES[kind]
        condition = _condition(kind, question)
        if condition != _ANY and of_kind.any():
            there = _left_of(connection, kind, places[of_kind].tolist(), condition)
            of_kind &= np.isin(places, np.array(there, dtype=np.int64))
        kept |= of_kind
    return places[kept]


def _left_of(
    connection: Connection, kind: Kind, places: Sequence[int], condition: _Condition
) -> list[int]:
    where, values = condition
    table = TABLES[kind]
    cursor = connection.cursor()
    cursor.row_factory = None
    rows = cursor.execute(
        f"SELECT place FROM search_documents d WHERE place {_IN} AND EXISTS"
        f" (SELECT 1 FROM {table} WHERE id = d.ref AND {where})",
        (json.dumps(places), *values),
    )
    return [place for (place,) in rows]


def _condition(kind: Kind, question: Question) -> _Condition:
    """A condition of SQL on the rows of a kind, with its values."""
    if kind == "observation":
        return question.observations.condition()
    if kind == "block":
        return _all(_within("updated_at", question), _of_holders(question))
    more = {"message": _of_message, "passage": _of_passage}
    rest = more[kind](question) if kind in more else _ANY
    return _all(_within("created_at", question), rest)


def _all(*conditions: _Condition) -> _Condition:
    asked = [one for one in conditions if one != _ANY] or [_ANY]
    where = " AND ".join(text for text, _ in asked)
    return where, [value for _, values in asked for value in values]


def _within(column: str, question: Question) -> _Condition:
    bounds = ((f"{column} >= ?", question.since), (f"{column} <= ?", question.until))
    conditions: list[_Condition] = [(text, [at]) for text, at in bounds if at is not None]
    return _all(*conditions)


def _of_message(question: Question) -> _Condition:
    conditions: list[_Condition] = []
    if question.roles:
        conditions.append((f"role {_IN}", [json.dumps(list(question.roles))]))
    if question.session_id is not None:
        conditions.append(("session_id = ?", [question.session_id]))
    return _all(*conditions)


def _of_passage(question: Question) -> _Condition:
    conditions: list[_Condition] = []
    if question.tags:
        missing = "value NOT IN (SELECT value FROM json_each(passages.tags))"
        wanted = json.dumps(list(question.tags))
        conditions.append((f"NOT EXISTS (SELECT 1 FROM json_each(?) WHERE {missing})", [wanted]))
    if question.ended:
        tags, ends = zip(*question.ended, strict=True)
        conditions.append((_NOT_ENDED, [json.dumps(ends), json.dumps(tags), json.dumps(tags)]))
    return _all(*conditions)


def _of_holders(question: Question) -> _Condition:
    """A block is called as its holders call it; one that nobody holds by its own label."""
    held = "EXISTS (SELECT 1 FROM held_blocks WHERE block_id = blocks.id{})"
    labels = json.dumps(list(question.labels))
    if question.is_of_everybody:
        if not question.labels:
            return _ANY
        named = held.format(f" AND label {_IN}")
        return f"({named} OR (NOT {held.format('')} AND label {_IN}))", [labels, labels]
    asked = f" AND agent_id {_IN}"
    agents = json.dumps(list(question.agent_ids or ()))
    if not question.labels:
        return held.format(asked), [agents]
    return held.format(f"{asked} AND label {_IN}"), [agents, labels]
