"""The index follows its documents, and its file survives what files meet."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from search_samples import ALL, BREAD, COFFEE, SHAPE, TEA, Letters, document

from dcf.search import (
    Change,
    Document,
    EmptyQuery,
    IndexDamaged,
    IndexUnusable,
    SearchIndex,
    Shape,
    embedder_named,
)

PROCESS = """
import sys
from pathlib import Path
sys.path.insert(0, {samples!r})
from search_samples import SHAPE, Letters, document
from dcf.search import SearchIndex
index = SearchIndex(Path({path!r}), SHAPE, Letters())
for round in range(5):
    index.update(document(f"skill{{n}}", f"text {{n}} of round {{round}}") for n in range(30))
print(len(index.search("text", 100)))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some" / "index.db"


def filled(path: Path, embedder: Letters | None = None) -> SearchIndex:
    index = SearchIndex(path, SHAPE, embedder or Letters())
    index.update(ALL)
    return index


def test_words_find_documents_in_any_form_and_say_where(path: Path) -> None:
    (hit,) = filled(path).search("kneading doughs", 1)
    assert hit.id == "bake.bread"
    assert hit.matched == {"text": ["kneading", "doughs"]}


def test_a_word_inside_a_name_of_a_program_is_a_word(path: Path) -> None:
    index = filled(path)
    assert index.search("coffee", 1)[0].matched == {"name": ["coffee"]}
    assert index.search("tea", 1)[0].matched == {"name": ["tea"]}


def test_a_word_in_the_name_counts_more(path: Path) -> None:
    index = SearchIndex(path, SHAPE, embedder_named("none"))
    index.update([document("aa", "bread bb cc"), document("bread", "aa bb cc")])
    assert [hit.id for hit in index.search("bread")] == ["bread", "aa"]


def test_only_what_changed_is_embedded_again(path: Path) -> None:
    embedder = Letters()
    index = SearchIndex(path, SHAPE, embedder)
    assert index.update(ALL) == Change(added=3, embedded=3)
    assert index.update(ALL) == Change()
    changed = document("brew_tea", "Boil milk.")
    assert index.update([changed, COFFEE, BREAD]) == Change(changed=1, embedded=1)
    assert embedder.embedded == 4
    assert index.search("milk", 1)[0].matched == {"text": ["milk"]}


def test_a_change_outside_of_the_views_embeds_nothing(path: Path) -> None:
    index = filled(path)
    same_views = Document(TEA.id, {"name": "brew_tea", "text": "Entirely other words."}, TEA.views)
    assert index.update([same_views, COFFEE, BREAD]) == Change(changed=1)
    assert index.search("entirely", 1)[0].id == "brew_tea"


def test_documents_with_the_same_views_are_embedded_once(path: Path) -> None:
    embedder = Letters()
    index = SearchIndex(path, SHAPE, embedder)
    twins = [Document(name, {"name": name, "text": "x"}, ("same",)) for name in ("a", "b")]
    assert index.update(twins) == Change(added=2, embedded=1)
    assert len(index.search("same")) == 2


def test_what_is_gone_is_found_no_more(path: Path) -> None:
    index = filled(path)
    assert index.update([TEA]) == Change(removed=2)
    assert [hit.id for hit in index.search("knead the dough")] == ["brew_tea"]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (1,)


def test_another_process_finds_the_index_as_it_was_left(path: Path) -> None:
    filled(path)
    embedder = Letters()
    assert SearchIndex(path, SHAPE, embedder).update(ALL) == Change()
    assert embedder.embedded == 0


def test_an_index_notices_what_another_one_wrote(path: Path) -> None:
    first, second = filled(path), filled(path)
    second.update([*ALL, document("new", "zebra")])
    assert first.search("zebra", 1)[0].id == "new"


def test_an_index_without_documents_finds_nothing(path: Path) -> None:
    index = SearchIndex(path, SHAPE, Letters())
    assert index.update([]) == Change()
    assert index.search("tea") == []


@pytest.mark.parametrize("name", ["none", "wordllama"])
def test_what_matches_nothing_still_gets_an_answer(path: Path, name: str) -> None:
    index = SearchIndex(path, SHAPE, embedder_named(name))
    index.update(ALL)
    assert len(index.search("qqqq", 2)) == 2


@pytest.mark.parametrize("query", ["", "  ", "?!…", "\n"])
def test_a_query_without_words_is_refused(path: Path, query: str) -> None:
    with pytest.raises(EmptyQuery):
        filled(path).search(query)


@pytest.mark.parametrize(
    "query",
    ['"tea', "tea OR NEAR(", "name:tea*", "a" * 10_000, "the of and", "茶 çay चाय", "\ud800 tea"],
)
def test_any_text_with_words_can_be_asked(path: Path, query: str) -> None:
    assert len(filled(path).search(query)) == 3


def test_words_of_other_scripts_are_found(path: Path) -> None:
    index = SearchIndex(path, SHAPE, embedder_named("none"))
    hindi, greek = document("one", "चाय बनाना"), document("two", "Φτιάξε ΤΣΆΙ")
    index.update([hindi, greek, document("three", "\ud800 café")])
    assert index.search("चाय", 1)[0].matched == {"text": ["चाय"]}
    assert index.search("τσάι", 1)[0].id == "two"
    assert index.search("cafe", 1)[0].id == "three"


def test_only_documents_among_those_allowed_are_ranked(path: Path) -> None:
    hits = filled(path).search("boil water", 3, among={"bake.bread", "unknown"})
    assert [hit.id for hit in hits] == ["bake.bread"]


def test_a_query_that_matches_weakly_has_a_low_word_score(path: Path) -> None:
    index = filled(path)
    strong, weak = index.search("knead dough", 1)[0], index.search("knead q w e r t", 1)[0]
    assert weak.words < strong.words / 2


@pytest.mark.parametrize("damage", ["header", "middle", "not a database", "emptied table"])
def test_a_damaged_file_is_made_anew(path: Path, damage: str) -> None:
    filled(path)
    if damage == "header":
        path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])
    elif damage == "middle":
        content = bytearray(path.read_bytes())
        content[4096:] = b"\xff" * (len(content) - 4096)
        path.write_bytes(content)
    elif damage == "emptied table":
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE documents")
    else:
        path.write_text("this was something else")
    index = SearchIndex(path, SHAPE, Letters())
    assert index.update(ALL).added == 3
    assert index.search("knead", 1)[0].id == "bake.bread"


def test_a_file_that_breaks_between_two_searches_is_reported_and_removed(path: Path) -> None:
    index = filled(path)
    path.write_text("broken" * 1000)
    with pytest.raises(IndexDamaged):
        index.search("tea")
    assert index.update(ALL).added == 3


def test_another_embedder_or_shape_makes_the_file_anew(path: Path) -> None:
    filled(path)
    other = SearchIndex(path, SHAPE, embedder_named("none"))
    assert other.update(ALL) == Change(added=3, embedded=3)
    shape = Shape(fields={"text": 1.0}, views=(1.0,))
    assert SearchIndex(path, shape, Letters()).update(ALL).added == 3


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnusable, match="cannot be used"):
        SearchIndex(tmp_path / "file" / "index.db", SHAPE, Letters()).update(ALL)


def test_two_processes_may_write_one_index(path: Path) -> None:
    code = PROCESS.format(samples=str(Path(__file__).parent), path=str(path))
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in running] == [b"30", b"30"]
    assert [process.returncode for process in running] == [0, 0]


class Killed(Letters):
    """Ends its process, as by kill -9, at the second batch."""

    def embed(self, texts: object) -> np.ndarray:
        if self.embedded:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts)  # type: ignore[arg-type]


def test_a_process_killed_in_the_middle_leaves_a_whole_index(path: Path) -> None:
    many = [document(f"skill{n}", f"text {n}") for n in range(700)]
    filled(path)
    child = os.fork()
    if not child:
        SearchIndex(path, SHAPE, Killed()).update(many)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    embedder = Letters()
    index = SearchIndex(path, SHAPE, embedder)
    assert [hit.id for hit in index.search("knead the dough", 1)] == ["bake.bread"]
    assert index.update(many).added == 700
    # What the killed process had embedded was kept.
    assert embedder.embedded == 700 - 512


@pytest.mark.parametrize("queries", [[], ["tea"], ["water and beans", "dough", "tea"]])
def test_queries_that_are_asked_together_find_what_each_finds(
    tmp_path: Path, queries: list[str]
) -> None:
    index = SearchIndex(tmp_path / "index.db", SHAPE, Letters())
    index.update(ALL)
    assert index.search_each(queries, 2) == [index.search(query, 2) for query in queries]
    with pytest.raises(EmptyQuery):
        index.search_each([*queries, "?!"])
