"""Questions about a real folder, through ripgrep and a file of SQLite."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pytest
from public_formats import examples

from dcf.code import (
    CodeHit,
    CodeRetriever,
    IndexTrouble,
    InvalidSearch,
    RootMissing,
    excerpt_of,
    vectors,
)
from dcf.code.syncing import Synced, sync_files
from dcf.search import Vectors, Weights, count_tokens, embedder_named

Damage: TypeAlias = Callable[[Path], None]
SHOP = '''import os


class Basket:
    def add(self, item, price):
        self.items.append((item, price))

    def total(self):
        return sum(price for _, price in self.items)


def charge_payment(basket, card):
    """Take the money."""
    return card.pay(basket.total())
'''
CALLER = "from shop import charge_payment\n\n\ndef checkout(b):\n    charge_payment(b, None)\n"


class Broken:
    """An embedder that cannot be used."""

    name = "broken"
    version = "1"
    weights = Weights(words=1.0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise RuntimeError("no model")

    embed_queries = embed
    embed_words = embed


class Wide(Broken):
    """One that gives each text the same meaning."""

    name = "wide"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 4), dtype=np.float32) / 2

    embed_queries = embed


class Heard(Wide):
    """One that keeps what it was given."""

    name = "heard"

    def __init__(self) -> None:
        self.heard: set[str] = set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.heard.update(texts)
        return super().embed(texts)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.py").write_text(SHOP)
    (folder / "src" / "desk.py").write_text(CALLER)
    return folder


@pytest.fixture
async def retriever(root: Path, tmp_path: Path) -> AsyncIterator[CodeRetriever]:
    made = CodeRetriever(root, tmp_path / "index" / "code.db")
    yield made
    await made.close()


def places(hits: Sequence[CodeHit]) -> list[tuple[str, str]]:
    return [(hit.path, hit.symbol) for hit in hits]


async def paths(retriever: CodeRetriever, question: str = "needle") -> set[str]:
    return {hit.path for hit in await retriever.find(question, limit=100)}


async def test_a_question_finds_a_function_and_says_why(retriever: CodeRetriever) -> None:
    report = await retriever.sync()
    assert (report.added, report.files, report.problems) == (2, 2, ())
    (hit,) = await retriever.find("the total price of all items", limit=1)
    assert (hit.path, hit.symbol, hit.first_line, hit.last_line) == (
        "src/shop.py",
        "Basket.total",
        8,
        9,
    )
    assert hit.text.startswith("    def total(self):") and hit.text.count("\n") == 1
    assert hit.tokens == count_tokens(hit.text)
    assert hit.why == ("words: total, price, items",)


async def test_the_index_is_of_its_owner_alone(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "code"
    mask = os.umask(0o022)
    try:
        await CodeRetriever(root, folder / "new.db").sync()
        (folder / "old.db").touch(0o644)
        await CodeRetriever(root, folder / "old.db").sync()
        # With a reader, what SQLite puts beside it is there.
        with sqlite3.connect(folder / "new.db") as reader:
            reader.execute("SELECT * FROM files").fetchall()
            modes = {one.name: one.stat().st_mode & 0o777 for one in (folder, *folder.iterdir())}
    finally:
        os.umask(mask)
    assert modes.pop("code") == 0o700
    assert {"new.db", "old.db", "new.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("word", [f"/{'a' * 60_000}.py:3", "é" * 70_000], ids=["path", "word"])
async def test_a_word_of_any_length_may_be_asked_with_others(
    root: Path, retriever: CodeRetriever, word: str
) -> None:
    for number in range(70):
        (root / f"{number}.py").write_text("")
    await retriever.ready(f"who calls charge_payment? {word}")
    await retriever.sync()
    assert (await retriever.find(f"who calls charge_payment? {word}"))[0].symbol == "charge_payment"
    await retriever.close()


async def test_a_name_finds_its_definition_first_and_then_who_says_it(
    retriever: CodeRetriever,
) -> None:
    await retriever.sync()
    first, second, *_ = await retriever.find("who calls charge_payment?")
    assert (first.symbol, first.why[0]) == ("charge_payment", "defines charge_payment")
    assert (second.symbol, second.why[0]) == ("checkout", "says charge_payment (line 5)")


async def test_only_what_changed_is_read_again_and_old_words_are_gone(
    root: Path, retriever: CodeRetriever
) -> None:
    await retriever.sync()
    (root / "src" / "shop.py").write_text(SHOP.replace("total", "sum_up"))
    (root / "src" / "desk.py").unlink()
    (root / "new.go").write_text("package a\n\nfunc Needle() {}\n")
    report = await retriever.sync()
    assert (report.added, report.changed, report.removed) == (1, 1, 1)
    assert await retriever.find("total") == ()
    assert places(await retriever.find("needle")) == [("new.go", "Needle")]
    assert (await retriever.sync()).unchanged == 2


async def test_a_change_of_the_same_size_right_after_is_seen(
    root: Path, retriever: CodeRetriever
) -> None:
    (root / "a.py").write_text("alpha = 1\n")
    await retriever.sync()
    (root / "a.py").write_text("omega = 1\n")
    await retriever.sync()
    assert places(await retriever.find("omega")) == [("a.py", "")]
    assert await retriever.find("alpha") == ()


@pytest.mark.parametrize("is_git", [True, False])
async def test_what_git_ignores_is_not_searched(
    root: Path, retriever: CodeRetriever, is_git: bool
) -> None:
    if is_git:
        subprocess.run(["git", "init", "-q", root], check=True)
    (root / ".gitignore").write_text("*.log\nbuild/\n!keep.log\n")
    (root / "src" / ".gitignore").write_text("local.py\n")
    # No file of git's: it does not ignore by these.
    (root / ".ignore").write_text("kept.py\n")
    (root / "build").mkdir()
    for name in ("a.log", "keep.log", "build/b.py", "src/local.py", "kept.py", "local.py"):
        (root / name).write_text("needle = 1\n")
    await retriever.sync()
    assert await paths(retriever) == {"keep.log", "kept.py", "local.py"}
    assert await paths(retriever, "`needle`") == {"keep.log", "kept.py", "local.py"}


async def test_links_are_not_followed(root: Path, retriever: CodeRetriever, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("needle = 1\n")
    (root / "file.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    await retriever.sync()
    assert await paths(retriever) == set()
    assert await retriever.find("`needle`", paths=["folder", "file.py"]) == ()


async def test_odd_files_are_told_and_the_others_are_there(
    root: Path, retriever: CodeRetriever
) -> None:
    (root / "picture.py").write_bytes(b"\x89PNG\0needle")
    (root / "large.txt").write_bytes(b"needle\n" * 1_500_000)
    (root / "latin.py").write_bytes(b"x = 1\nneedle = 'caf\xe9'\n")
    (root / "torn.py").write_text("def good():\n    return 1\n\ndef (needle:\n")
    (root / "empty.py").write_text("")
    report = await retriever.sync()
    assert [(one.file, one.code, one.line) for one in report.problems] == [
        ("large.txt", "code_file_large", None),
        ("latin.py", "code_file_encoding", 2),
        ("torn.py", "code_syntax", 4),
    ]
    assert await paths(retriever) == {"latin.py", "torn.py"}
    assert ("torn.py", "good") in places(await retriever.find("good"))
    # They are told as long as they are there.
    assert (await retriever.sync()).problems == report.problems


async def test_paths_narrow_and_the_open_file_comes_earlier(
    root: Path, retriever: CodeRetriever
) -> None:
    for folder in ("a", "b", "ab"):
        (root / folder).mkdir()
        (root / folder / "same.py").write_text("needle = 1\n")
    await retriever.sync()
    (hit,) = await retriever.find("needle", paths=["./a/", "a/same.py"])
    assert hit.path == "a/same.py"
    first, *_ = await retriever.find("needle", near="b/same.py")
    assert (first.path, first.why[-1]) == ("b/same.py", "near b/same.py: +0.1")


@pytest.mark.parametrize("tokens", [1, 5, 30, 200])
async def test_a_text_never_costs_more_than_was_asked(
    root: Path, retriever: CodeRetriever, tokens: int
) -> None:
    body = "".join(f"    step_{n} = needle({n})\n" for n in range(100))
    (root / "long.py").write_text(f"def needles():\n{body}")
    (root / "line.js").write_text("var needle='" + "ab1" * 2_500 + "'")
    await retriever.sync()
    hits = await retriever.find("needle", tokens=tokens)
    assert len(hits) == 2
    for hit in hits:
        assert hit.tokens == count_tokens(hit.text) <= tokens
        lines = (root / hit.path).read_text().split("\n")[hit.first_line - 1 : hit.last_line]
        assert "\n".join(lines).startswith(hit.text)


async def test_all_problems_of_a_question_are_told(retriever: CodeRetriever) -> None:
    with pytest.raises(InvalidSearch) as caught:
        await retriever.find(" ?! ", limit=0, tokens=9_999, paths=["../x", "/etc"], near="")
    assert [one.path for one in caught.value.problems] == [
        "/text",
        "/limit",
        "/tokens",
        "/paths/0",
        "/paths/1",
        "/near",
    ]
    with pytest.raises(InvalidSearch, match="100,001 characters"):
        await retriever.find("a" * 100_001)


async def test_strange_questions_are_only_words(retriever: CodeRetriever) -> None:
    await retriever.sync()
    for question in (
        'total" OR name:',
        "-e total --files",
        "* NEAR(total)",
        "total\0x",
        "é総",
        "\ud800 a",
    ):
        await retriever.find(question)
    assert places(await retriever.find("total " * 15_000, limit=1)) == [
        ("src/shop.py", "Basket.total")
    ]


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("missing", "file"):
        with pytest.raises(RootMissing, match=name):
            CodeRetriever(tmp_path / name, tmp_path / "code.db")


def no_database(path: Path) -> None:
    path.write_bytes(b"no database at all, and long enough to be looked at" * 100)


def half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbled(path: Path) -> None:
    """All pages but the first."""
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(one ^ 0x5A for one in data[4096:]))


def of_a_later_sqlite(path: Path) -> None:
    """By the number of its schema's form, which is 4 at most: https://sqlite.org/fileformat2.html,
    1.3."""
    data = bytearray(path.read_bytes())
    data[44:48] = (9).to_bytes(4, "big")
    path.write_bytes(data)


def made_by(*statements: str) -> Damage:
    def made(path: Path) -> None:
        path.unlink()
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)

    return made


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE files")


def of_another_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE about SET form = '1'")


DAMAGES = (
    no_database,
    half,
    garbled,
    of_a_later_sqlite,
    without_a_table,
    made_by("CREATE TABLE about (other TEXT)", "CREATE TABLE notes (text TEXT)"),
    made_by("CREATE TABLE notes (text TEXT)", "CREATE VIEW pieces AS SELECT text FROM notes"),
    of_another_version,
)


@pytest.mark.parametrize("asked", ["at first", "between", "kept open"])
@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_index_is_made_anew_for_the_first_question(
    damage: Damage,
    asked: str,
    root: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = tmp_path / "index" / "code.db"
    for name in range(30):
        (root / f"tool{name}.py").write_text(f"def tool{name}():\n    return {name}\n")
    retriever = CodeRetriever(root, path)
    await retriever.ready("charge payment")
    await retriever.sync()
    before = places(await retriever.find("charge payment"))
    if asked != "kept open":
        await retriever.close()
    if asked == "at first":
        retriever = CodeRetriever(root, path)
    caplog.clear()
    damage(path)
    if asked == "at first":
        assert await retriever.ready("charge payment") == ()
    assert places(await retriever.find("charge payment")) == before
    assert (await retriever.sync()).files == 32
    await retriever.close()
    if asked != "kept open":  # then it may be read on from what is in memory
        assert [one.levelname for one in caplog.records] == ["WARNING"]
        assert str(path) in caplog.text and "made anew" in caplog.text


async def test_an_index_that_is_no_file_is_no_damage(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "code.db"
    (path / "kept").mkdir(parents=True)
    with pytest.raises(IndexTrouble, match="unable to open"):
        await CodeRetriever(root, path).sync()
    assert (path / "kept").is_dir()


async def test_an_embedder_that_fails_leaves_words_and_names(root: Path, tmp_path: Path) -> None:
    retriever = CodeRetriever(root, tmp_path / "code.db", Broken())
    report = await retriever.sync()
    assert [one.code for one in report.problems] == ["code_embedder"]
    assert (await retriever.find("total price"))[0].symbol == "Basket.total"


async def test_an_embedder_that_fails_over_questions_is_told(
    root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Asked(Broken):
        def embed_queries(self, queries: Sequence[str]) -> Vectors:
            raise OSError("the model is gone")

    retriever = CodeRetriever(root, tmp_path / "index.db", Asked())
    for _ in range(2):
        problems = await retriever.ready("total price")
        assert await retriever.find("total price")
    assert [(one.code, one.severity) for one in problems] == [("code_embedder", "warning")]
    assert "the model is gone" in problems[0].message and "next question" in problems[0].hint
    assert caplog.text.count("questions are not embedded: the model is gone") == 1
    await retriever.close()


async def test_vectors_of_another_embedder_are_made_anew(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "code.db"
    count = (await CodeRetriever(root, path, embedder_named("wordllama")).sync()).embedded
    assert count > 0
    wide = CodeRetriever(root, path, Wide())
    assert "meaning" not in str(await wide.find("total"))
    assert (await wide.sync()).embedded == count
    assert (await wide.sync()).embedded == 0
    assert "meaning: 1.00" in str(await wide.find("total"))


async def test_an_index_of_an_older_form_is_made_anew(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "code.db"
    await CodeRetriever(root, path).sync()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE about SET form = '6|{root.resolve()}'")
        connection.execute("DROP TABLE words")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (name, path, body, content = '')")
    retriever = CodeRetriever(root, path)
    assert (await retriever.sync()).added == 2
    assert (await retriever.find("total price"))[0].symbol == "Basket.total"


async def test_names_are_found_by_what_is_said_for_their_words(
    root: Path, retriever: CodeRetriever
) -> None:
    (root / "paths.py").write_text(
        "def conf_dir(where):\n    return where / 'etc'\n\n\n"
        "def data_home(where):\n    return where / 'var'\n"
    )
    await retriever.sync()
    hit, *others = await retriever.find("the directory of the configuration")
    assert (hit.symbol, hit.why) == ("conf_dir", ("words: directory, configuration",))
    assert "data_home" not in [one.symbol for one in others]


async def test_of_two_alike_comes_first_what_does_as_the_question_says(
    root: Path, retriever: CodeRetriever
) -> None:
    body = "(orders):\n    return [one for one in orders if one.open]\n\n\n"
    (root / "orders.py").write_text(f"def list_close{body}def closes_list{body}")
    await retriever.sync()
    questions = ("Lists what may close.", "Closes what is on the list.")
    found = [(await retriever.find(one, limit=1))[0].symbol for one in questions]
    assert found == ["list_close", "closes_list"]


async def test_a_name_among_many_words_does_not_ask_for_its_definition(
    root: Path, retriever: CodeRetriever
) -> None:
    (root / "queues.py").write_text(
        "def pool():\n    return 'main'\n\n\n"
        "def waiting_workers(pool):\n    return [one for one in workers if one.reads(pool)]\n"
    )
    await retriever.sync()
    questions = ("where is `pool`", "The workers that wait for work, of those that read `pool`.")
    found = [(await retriever.find(one, limit=1))[0].symbol for one in questions]
    assert found == ["pool", "waiting_workers"]


async def test_of_two_alike_comes_first_what_is_not_for_the_inside(
    root: Path, retriever: CodeRetriever
) -> None:
    body = "(orders):\n    return [one for one in orders if one.open]\n\n\n"
    names = ("__open_orders__", "_open_orders", "open_orders")
    (root / "orders.py").write_text("".join(f"def {name}{body}" for name in names))
    await retriever.sync()
    found = [hit.symbol for hit in await retriever.find("orders that are open")]
    assert found == list(reversed(names))


async def test_words_of_a_language_mean_nothing(root: Path, tmp_path: Path) -> None:
    (root / "src" / "desk.py").write_text("def f(x):\n    return x\n")
    (root / "src" / "shop.py").write_text("def f(x):\n    if x is not None:\n        return x\n")
    embedder = Heard()
    await CodeRetriever(root, tmp_path / "code.db", embedder).sync()
    assert {"f\nsrc desk py\nf x x", "f\nsrc shop py\nf x x x"} <= embedder.heard


async def test_after_many_changes_the_index_is_as_one_made_anew(root: Path, tmp_path: Path) -> None:
    chance = random.Random(8)
    lines = SHOP.split("\n") + CALLER.split("\n") + ["HTTPServer_x = caféBar", "\x01", "e_ é_"]
    followed = CodeRetriever(root, tmp_path / "followed.db", Wide())
    for _ in range(15):
        for _ in range(20):
            file = root / f"f{chance.randrange(12)}.{chance.choice(['py', 'js', 'txt'])}"
            if chance.random() < 0.25:
                file.unlink(missing_ok=True)
            else:
                file.write_text("\n".join(chance.choices(lines, k=chance.randrange(40))))
        await followed.sync()
    anew = CodeRetriever(root, tmp_path / "anew.db", Wide())
    await anew.sync()
    assert _content(tmp_path / "followed.db") == _content(tmp_path / "anew.db")


def _content(path: Path) -> list[object]:
    """All that an index holds, by places in files."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, instance)")
        place = "(SELECT path || ':' || first_line FROM pieces p JOIN files f ON f.id = file WHERE"
        return [
            connection.execute(query).fetchall()
            for query in (
                f"SELECT term, {place} p.id = doc), col, offset FROM terms ORDER BY 1, 2, 3, 4",
                f"SELECT {place} p.id = piece), value FROM vectors ORDER BY 1",
                "SELECT path, first_line, last_line, name, kind, begins, text FROM pieces p"
                " JOIN files f ON f.id = file ORDER BY 1, 2",
            )
        ]


async def test_a_stack_trace_leads_to_its_lines_first(root: Path, retriever: CodeRetriever) -> None:
    (root / "src" / "other.py").write_text("def checkout_basket_total():\n    return 'checkout'\n")
    await retriever.sync()
    trace = 'File "/srv/src/desk.py", line 5, in checkout\n  File "/srv/src/shop.py", line 9'
    first, second, *_ = await retriever.find(f"Traceback (most recent call last):\n{trace}")
    assert (first.symbol, first.why[0]) == ("Basket.total", "the trace names src/shop.py:9")
    assert (second.symbol, second.why[0]) == ("checkout", "the trace names src/desk.py:5")
    assert (first.first_line, first.last_line) == (8, 9)
    (narrow,) = await retriever.find(trace, paths=["src/desk.py"], limit=1)
    assert narrow.path == "src/desk.py"


async def test_minified_files_are_left_out_by_name(root: Path, retriever: CodeRetriever) -> None:
    (root / "bundle.js").write_text("var needle=1;" * 1_000)
    report = await retriever.sync()
    assert [(one.file, one.code) for one in report.problems] == [
        ("bundle.js", "code_file_minified")
    ]
    assert (await retriever.sync()).problems == report.problems
    assert await retriever.find("needle") == ()


async def test_what_a_lock_names_as_generated_is_left_out(
    root: Path, retriever: CodeRetriever
) -> None:
    files = {
        "shop/generated/manifests/a.json": '{"needle": 1}',
        "shop/generated/own.json": '{"needle": 2}',
        "shop/manifests/a.json": '{"needle": 3}',
        "web/app.min.js": "var needle = 4;",
        "web/app.js.map": '{"needle": 5}',
        "shop/generated/skills.lock": json.dumps({"artefacts": {"manifests/a.json": "sha256:0"}}),
        "broken/skills.lock": "[" * 100_000,
        "odd/skills.lock": '{"artefacts": ["needle"]}',
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    assert (await retriever.sync()).problems == ()
    found = {one.path for one in await retriever.find("needle")}
    assert found == {"shop/generated/own.json", "shop/manifests/a.json"}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Looks at the files take no time by it, so that each question is late for the one before."""
    made = SimpleNamespace(now=100.0, monotonic=lambda: made.now, thread_time=time.thread_time)
    monkeypatch.setattr("dcf.code.indexer.time", made)
    return made


def looks() -> set[asyncio.Task[Any]]:
    """Those at the files that go on behind answers."""
    return {one for one in asyncio.all_tasks() if "Indexer._follow" in repr(one)}


@pytest.mark.parametrize("looked_behind", [False, True])
async def test_an_answer_follows_edits(
    root: Path, retriever: CodeRetriever, clock: SimpleNamespace, looked_behind: bool
) -> None:
    """Also those made since the look that was begun behind the answer before."""
    assert await retriever.ready("total") == () and not looks()
    if looked_behind:
        assert places(await retriever.find("total", limit=1)) == [("src/shop.py", "Basket.total")]
        await asyncio.wait(looks())
    (root / "src" / "shop.py").write_text(SHOP.replace("total", "sum_up"))
    clock.now += 8
    assert await retriever.ready("sum_up") == ()
    assert places(await retriever.find("sum_up", limit=1)) == [("src/shop.py", "Basket.sum_up")]
    assert not await retriever.find("total")


async def test_of_many_questions_none_waits_for_a_look_that_is_begun_behind_an_answer(
    root: Path, retriever: CodeRetriever, clock: SimpleNamespace
) -> None:
    ticks = iter([100.0, 100.0, 100.1])
    clock.monotonic = lambda: next(ticks, clock.now)
    assert await retriever.ready("total") == ()
    # That look took 0.1 s, so that the next is due in a second, and is begun after 0.8 of it.
    (root / "src" / "shop.py").write_text(SHOP.replace("total", "sum_up"))
    clock.now = 100.8
    assert await retriever.find("total") and not looks()
    clock.now = 101.0
    assert await retriever.find("total")
    (look,) = looks()
    assert await retriever.ready("total") == () and not look.done()
    await asyncio.wait([look])
    assert await retriever.ready("sum_up") == () and not await retriever.find("total")


async def test_what_is_likely_to_answer_is_read_before_all_the_rest(
    root: Path, retriever: CodeRetriever
) -> None:
    for number in range(150):
        (root / f"filler_{number}.py").write_text(f"def other_{number}():\n    return {number}\n")
    (root / "zebra.py").write_text("def stripes():\n    return 'needlework'\n")
    (warning,) = await retriever.ready("who does needlework?", patience_s=0.02)
    assert warning.code == "code_index_partial" and warning.severity == "warning"
    try:
        while warning is not None:
            warning = next(iter(await retriever.ready("needlework", patience_s=5)), None)
            hits = await retriever.find("needlework")
            assert places(hits[:1]) == [("zebra.py", "stripes")]
        assert (await retriever.sync()).unchanged == 153
    finally:
        await retriever.close()


async def test_no_secret_of_a_file_is_kept_or_returned(
    root: Path, retriever: CodeRetriever, tmp_path: Path
) -> None:
    """The lines of what stands behind a key stay those of the file; what is parsed is the file."""
    token = next(one for one in examples(26) if one.maker == "GitHub")
    key = next(one for one in examples(26) if "PRIVATE KEY" in one.text)
    lines = (
        f'KEY = """{key.text}"""\nTOKEN = "{token.text}"\n\n\ndef pay_tea():\n    return TOKEN\n'
    )
    (root / "src" / "keys.py").write_text(lines)
    (root / f"{token.text}.py").write_text("def pay_tea_again():\n    pass\n")
    (root / "password=Hunter22xk").mkdir()
    (root / "password=Hunter22xk" / "a.py").write_text("def pay_tea_again():\n    pass\n")
    report = await retriever.sync()
    assert [(one.code, one.file) for one in report.problems] == [
        ("code_file_secret", "[redacted: github token].py"),
        ("code_file_secret", "password=[redacted: password]/a.py"),
    ]
    hits = await retriever.find("pay tea KEY TOKEN", limit=10)
    (pay,) = (one for one in hits if one.symbol == "pay_tea")
    assert (pay.first_line, pay.last_line) == (8, 9)
    (keys,) = (one for one in hits if one.path == "src/keys.py" and one.first_line == 1)
    assert keys.text == (
        'KEY = """[redacted: private key]\n\n\n"""\nTOKEN = "[redacted: github token]"\n\n'
    )
    shown = await excerpt_of(root, "src/keys.py", 4, 9)
    assert shown.lines == (
        *('"""', 'TOKEN = "[redacted: github token]"', "", ""),
        *("def pay_tea():", "    return TOKEN"),
    )
    kept = b"".join(one.read_bytes() for one in (tmp_path / "index").iterdir())
    assert b"[redacted: github token]" in kept
    for one in (token, key):
        assert one.drawn not in repr((report, hits, shown))
        assert one.drawn.encode() not in kept


async def test_a_file_that_cannot_be_cited_by_its_name_is_named_and_left_out(
    root: Path, retriever: CodeRetriever
) -> None:
    code = "def escape_sequence_marker():\n    return 1\n"
    for name in (b"e\x1b[31mred.py", b"a\nb.py", b"caf\xe9.py", b"d\x7f.py", b"tea.py"):
        Path(os.fsdecode(bytes(root) + b"/" + name)).write_text(code)
    long = root.joinpath(*["ц" * 100] * 4)
    long.mkdir(parents=True)
    (long / "far.py").write_text(code)
    report = await retriever.sync()
    named = [str(one).partition(":")[0] for one in report.problems if one.code == "code_file_name"]
    assert sorted(named, key=len)[:4] == [
        "a\\nb.py",
        r"d\u007f.py",
        r"caf\xe9.py",
        r"e\u001b[31mred.py",
    ]
    assert len(named) == 5 and max(named, key=len).startswith("цц")
    hits = await retriever.find("escape sequence marker")
    assert [one.citation for one in hits] == ["dcf://code/tea.py/line/1-2"]


async def test_a_process_that_ends_with_its_answer_spends_its_patience_on_the_index(
    root: Path, tmp_path: Path
) -> None:
    """Also where no file says a word of the question; vectors that are missing are made then."""
    for number in range(150):
        (root / f"f{number}.py").write_text(f"def step_{number}():\n    return {number}\n")
    path = tmp_path / "code.db"
    first = CodeRetriever(root, path, Wide(), goes_on=False)
    assert await first.ready("needle", 60) == ()
    await first.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM files").fetchone() == (152,)
        connection.execute("DELETE FROM vectors WHERE piece > 9")
    second = CodeRetriever(root, path, Wide(), goes_on=False)
    assert await second.ready("needle", 60) == ()
    await second.close()
    assert not lacks_vectors(path, Wide())


async def test_a_process_that_ends_with_its_answer_leaves_nothing_under_way(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large files take long: a step ends after the one that was under way when its time was over.
    What was read stays, and the next question goes on with the others."""
    read: list[str] = []

    def slow(connection: Any, base: Path, some: Sequence[str], known: Any) -> Synced:
        until = time.thread_time() + 0.15
        while time.thread_time() < until:
            pass
        read.extend(some)
        return sync_files(connection, base, some, known)

    for number in range(100):
        (root / f"f{number:02}.py").write_text(f"def step_{number}():\n    return {number}\n")
    monkeypatch.setattr("dcf.code.indexer.sync_files", slow)
    retriever = CodeRetriever(root, tmp_path / "code.db", goes_on=False)
    (warning,) = await retriever.ready("needle", 0.1)
    assert warning.code == "code_index_partial"
    # The step that was waited for, and the one that had begun when its end was told.
    await asyncio.sleep(0.5)
    known = len(read)
    assert 0 < known <= 4
    await asyncio.sleep(0.5)
    assert len(read) == known
    monkeypatch.setattr("dcf.code.indexer.sync_files", sync_files)
    assert await retriever.ready("needle", 60) == ()
    await retriever.close()
    with sqlite3.connect(tmp_path / "code.db") as connection:
        assert connection.execute("SELECT count(*) FROM files").fetchone() == (102,)


async def test_a_busy_machine_leaves_no_file_out_that_is_likely_to_answer(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(70):
        (root / f"f{number}.py").write_text(f"{'needle' if number < 9 else 'hay'} = {number}\n")

    def starved(*arguments: Any) -> Synced:
        time.sleep(0.25)
        return sync_files(*arguments)

    monkeypatch.setattr("dcf.code.indexer.sync_files", starved)
    retriever = CodeRetriever(root, tmp_path / "code.db")
    await retriever.ready("needle", 0.5)
    assert {f"f{number}.py" for number in range(9)} <= await paths(retriever)
    await retriever.close()


class Slow(Wide):
    """One that waits with each text until it may go on; what it was given is of ``Heard``."""

    name = "slow"

    def __init__(self) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        assert self.may_go_on.wait(60)
        return super().embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return Wide.embed(self, texts)


@pytest.mark.parametrize("edits", [1, 80])
async def test_edits_are_seen_while_vectors_are_made(
    root: Path, tmp_path: Path, clock: SimpleNamespace, edits: int
) -> None:
    """Few at once; of many those that are likely to answer, or a warning that says how many are
    not read yet."""
    for number in range(150):
        (root / f"f{number:03}.py").write_text(f"def step_{number}():\n    return {number}\n")
    for file in root.rglob("*.py"):
        # What was just written is looked at again each time.
        os.utime(file, (1_000_000, 1_000_000))
    slow, path = Slow(), tmp_path / "code.db"
    retriever = CodeRetriever(root, path, slow)
    await retriever.ready("step", 60)
    assert await asyncio.to_thread(slow.begun.wait, 60)
    for number in range(edits):
        # The last files have the last pieces, whose numbers those of the edits get.
        file = root / f"f{149 - number:03}.py"
        file.write_text(f"def needle_{number}():\n    return {number}\n")
    clock.now += 60
    asked = asyncio.create_task(retriever.ready("needle_0", 60))
    if edits > 1:
        # Many are read by whoever makes the vectors, behind the batch under way.
        slow.may_go_on.set()
    problems = await asyncio.wait_for(asked, 30)
    assert {one.code for one in problems} <= ({"code_index_partial"} if edits > 1 else set())
    assert places(await retriever.find("needle_0", limit=1)) == [("f149.py", "needle_0")]
    slow.may_go_on.set()
    async with asyncio.timeout(60):
        while await asyncio.to_thread(lacks_vectors, path, slow):
            await asyncio.sleep(0.01)
    await retriever.close()


def lacks_vectors(path: Path, embedder: Wide) -> bool:
    with sqlite3.connect(path) as connection:
        return vectors.are_missing(connection, embedder)


async def test_a_vector_is_not_given_to_another_piece_of_the_same_number(
    root: Path, tmp_path: Path
) -> None:
    path, heard = tmp_path / "code.db", Heard()
    retriever = CodeRetriever(root, path)
    await retriever.sync()
    with sqlite3.connect(path) as connection:
        before = vectors.missing(connection, heard, 100)
        made = vectors.embedded(heard, before)
    (root / "src" / "shop.py").write_text(SHOP.replace("total", "sum_up"))
    await retriever.sync()
    await retriever.close()
    with sqlite3.connect(path) as connection:
        vectors.keep(connection, heard, before, made)
        (kept,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
        same = {one for one in vectors.missing(connection, heard, 100) if one in before}
    assert kept == sum(one.path == "src/desk.py" for one in before) and not same
