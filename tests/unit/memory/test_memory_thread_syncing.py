"""Bringing threads up to date, against a model of what a source did to them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcf.memory import Actor, NewThread, NewTurn, Outline, Source
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection, migrate
from dcf.memory.ids import random_id
from dcf.memory.threads.piece import Piece, pieces_of
from dcf.memory.threads.syncing import Syncing

IDS = itertools.count()


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = tmp_path_factory.mktemp("threads") / "m.db"
    with closing(Source(path).connect()) as opened:
        migrate(opened, Path(path))
        # One transaction: what a commit is worth is tested elsewhere.
        opened.execute("BEGIN")
        yield opened


def kept(connection: Connection, pieces: list[Piece], syncing: Syncing | None = None) -> None:
    journal = Journal(connection, 1, Actor("user", "ada"), random_id)
    syncing = syncing or Syncing("test")
    syncing.work(journal, syncing.note(pieces))


def rows(connection: Connection, source_id: str) -> list[dict[str, Any]]:
    found = connection.execute(
        "SELECT thread_turns.* FROM thread_turns JOIN threads ON threads.id = thread_id"
        " WHERE source_id = ? ORDER BY number",
        (source_id,),
    )
    hidden = ("id", "thread_id")
    return [{key: row[key] for key in row.keys() if key not in hidden} for row in found]  # noqa: SIM118


KEYED = st.tuples(st.just(True), st.sampled_from("ab"), st.booleans())
KEYLESS = st.tuples(st.just(False), st.sampled_from("abc"), st.booleans())
CHANGE = st.tuples(
    st.sampled_from(["insert", "edit", "delete", "rewind"]), st.integers(0, 30), KEYED | KEYLESS
)
HISTORY = st.lists(st.lists(CHANGE, min_size=1, max_size=5), min_size=1, max_size=5)


def changed(turns: list[NewTurn], changes: list[Any]) -> list[NewTurn]:
    """What the source has after ``changes``: turns with an id keep it."""
    turns = list(turns)
    for what, where, (keyed, text, rewound) in changes:
        at = where % (len(turns) + 1)
        if what == "insert" or at == len(turns):
            key = f"k{next(IDS)}" if keyed else ""
            turns.insert(at, NewTurn("user", text, key=key, rewound=rewound))
        elif what == "delete":
            del turns[at]
        else:
            one = turns[at]
            left = not one.rewound if what == "rewind" else one.rewound
            said = text if what == "edit" else one.text
            turns[at] = NewTurn("user", said, key=one.key, rewound=left)
    return turns


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(HISTORY, st.data())
def test_what_is_kept_follows_the_source_and_numbers_stay(
    connection: Connection, history: list[Any], data: st.DataObject
) -> None:
    source_id, turns = f"t{next(IDS)}", list[NewTurn]()
    said: dict[int, tuple[str, str]] = {}
    for changes in history:
        before = rows(connection, source_id)
        turns = changed(turns, changes)
        pieces = list(pieces_of(NewThread("test", Outline(source_id), tuple(turns))))
        # A sync that dies anywhere before ...
        kept(connection, pieces[: data.draw(st.integers(0, len(pieces) - 1))])
        kept(connection, pieces)
        now = rows(connection, source_id)
        standing = sorted(
            (row for row in now if row["place"] is not None), key=lambda r: r["place"]
        )
        assert [(row["text"], row["key"], row["standing"] == "rewound") for row in standing] == [
            (turn.text, turn.key, turn.rewound) for turn in turns
        ]
        assert [row["place"] for row in standing] == list(range(1, len(turns) + 1))
        assert not [row for row in now if row["standing"] == "arriving"]
        keys = {turn.key for turn in turns if turn.key}
        for row in now:
            assert said.setdefault(row["number"], (row["text"], row["key"])) == (
                row["text"],
                row["key"],
            )
            if row["place"] is None:
                assert row["standing"] == ("edited" if row["key"] in keys else "gone")
        numbers = {(row["key"], row["text"]): row["number"] for row in before if row["key"]}
        for row in now:
            assert numbers.get((row["key"], row["text"]), row["number"]) == row["number"]
        # ... or after leaves the same.
        kept(connection, pieces[: data.draw(st.integers(0, len(pieces)))])
        kept(connection, pieces)
        assert rows(connection, source_id) == now


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from("abc"), max_size=12), st.integers(0, 12), st.sampled_from("abcd"))
def test_an_insertion_takes_no_number_from_what_was_there(
    connection: Connection, texts: list[str], at: int, new: str
) -> None:
    """Turns without ids that repeat each other, and one more anywhere: who had a number and the
    same neighbours has it still."""

    def sync(source_id: str, texts: list[str]) -> list[int]:
        turns = tuple(NewTurn("user", text) for text in texts)
        kept(connection, list(pieces_of(NewThread("test", Outline(source_id), turns))))
        found = (row for row in rows(connection, source_id) if row["place"])
        return [row["number"] for row in sorted(found, key=lambda row: row["place"])]

    source_id, at = f"t{next(IDS)}", min(at, len(texts))
    numbers = sync(source_id, texts)
    later = sync(source_id, [*texts[:at], new, *texts[at:]])
    assert sorted(later) == list(range(1, len(texts) + 2))
    if new == "d":
        assert later == [*numbers[:at], len(texts) + 1, *numbers[at:]] or any(
            texts.count(text) > 1 for text in texts
        )


def test_a_thread_that_is_read_in_parts_is_the_same(connection: Connection) -> None:
    turns = tuple(NewTurn("user", text) for text in "abcabca")
    whole, parts = f"t{next(IDS)}", f"t{next(IDS)}"
    kept(connection, list(pieces_of(NewThread("test", Outline(whole), turns))))
    syncing = Syncing("test")
    for piece in pieces_of(NewThread("test", Outline(parts), turns)):
        kept(connection, [piece], syncing)
    assert rows(connection, parts) == rows(connection, whole)
