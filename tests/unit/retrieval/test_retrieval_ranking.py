"""What a question names besides its words lifts what has it, a little; each text comes once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import SYSTEM, FileState, Memory, NewObservation, Origin, Source
from dcf.retrieval import (
    Candidate,
    CodeRetrievers,
    ContextQuestion,
    InvalidQuestion,
    NewItem,
    ObservationRetriever,
    Projects,
    Retrieval,
    Scored,
    SqliteDocuments,
    SqliteItems,
    VolatileItems,
)
from dcf.retrieval.cut import with_costs
from dcf.retrieval.ranking import boosted, fused, merged
from dcf.retrieval.serving import AccessLimits, create_app
from dcf.search import count_tokens
from dcf.tools.serving import Guard

SHOP = "/work/shop"


def scored(place: int, score: float, path: str | None, tags: Sequence[str] = ()) -> Scored:
    about = {} if path is None else {"file_path": path}
    one = Candidate("memory", place, f"text {place}", f"dcf://memory/{place}", "", about)
    return Scored(replace(one, tags=tuple(tags)), score, ())


PATHS = ["src/a.ts", "src/b.ts", "src/deep/c.ts", "tests/a.ts", "README.md", "/etc/hosts", "../x/y"]
TAGS = ["error", "fix", "runlog"]
lists = st.lists(
    st.tuples(st.floats(0, 1), st.none() | st.sampled_from(PATHS), st.lists(st.sampled_from(TAGS))),
    max_size=30,
).map(
    lambda rows: [
        scored(place, round(score, 6), path, tags)
        for place, (score, path, tags) in enumerate(sorted(rows, key=lambda row: -row[0]))
    ]
)


@given(lists)
def test_without_tags_and_a_file_nothing_moves(ranked: list[Scored]) -> None:
    assert boosted(ranked, (), None) == ranked


@given(
    lists,
    st.lists(st.sampled_from([*TAGS, "unknown"]), max_size=4),
    st.none() | st.sampled_from([*PATHS, "elsewhere/z.ts"]),
)
def test_boosts_are_bounded(ranked: list[Scored], tags: list[str], path: str | None) -> None:
    found = boosted(ranked, tags, path)
    assert sorted(one.candidate.place for one in found) == [*range(len(ranked))]
    assert all(0 <= one.score <= 1 for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    # 0.05 for tags and for a file each: no more than that may be made up for.
    most = 0.05 * bool(tags) + 0.05 * (path is not None)
    place = {one.candidate.place: number for number, one in enumerate(found)}
    for better in ranked:
        for worse in ranked[better.candidate.place + 1 :]:
            if (1 - most) * (better.score - worse.score) > most + 1e-5:
                assert place[better.candidate.place] < place[worse.candidate.place]


@given(lists, st.sampled_from(TAGS), st.sampled_from(PATHS))
def test_of_those_that_have_the_same_the_order_stays(
    ranked: list[Scored], tag: str, path: str
) -> None:
    def kind(one: Scored) -> tuple[object, bool]:
        return one.candidate.about.get("file_path"), tag in one.candidate.tags

    found = boosted(ranked, [tag], path)
    for same in {kind(one) for one in ranked}:
        order = [one.candidate.place for one in found if kind(one) == same]
        assert order == sorted(order)


@pytest.mark.parametrize(
    ("path", "score", "said"),
    [
        # 0.95 * 0.8, and what the nearness adds.
        ("src/a.ts", 0.81, "the file src/a.ts: +0.050"),
        ("src/b.ts", 0.79, "in the folder of src/a.ts: +0.030"),
        ("src/deep/c.ts", 0.77, "in the top folder of src/a.ts: +0.010"),
        ("tests/a.ts", 0.76, None),
        ("src", 0.76, None),
        (None, 0.76, None),
    ],
)
def test_the_nearer_the_more(path: str | None, score: float, said: str | None) -> None:
    (found,) = boosted([scored(0, 0.8, path)], (), "src/a.ts")
    assert found.score == pytest.approx(score) and found.why == ((said,) if said else ())


def test_what_has_more_of_the_tags_is_lifted_more() -> None:
    ranked = [scored(0, 0.8, None), scored(1, 0.79, None, ["fix"]), scored(2, 0.78, None, TAGS)]
    found = boosted(ranked, ["error", "fix"], None)
    assert [one.candidate.place for one in found] == [2, 1, 0]
    # 0.95 * 0.78 + 0.05, 0.95 * 0.79 + 0.025, 0.95 * 0.8.
    assert [one.score for one in found] == [0.791, 0.7755, 0.76]
    assert [one.why for one in found] == [
        ("tagged error, fix: +0.050",),
        ("tagged fix: +0.025",),
        (),
    ]


def test_a_path_out_of_the_folder_has_no_top_folder() -> None:
    (one, two) = boosted(
        [scored(0, 0.5, "/etc/hosts"), scored(1, 0.5, "../x/y")], (), "/var/log/syslog"
    )
    assert one.why == two.why == ()


async def test_tags_lift_over_http_and_wrong_ones_are_refused() -> None:
    clock = Ticking()
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock)
    app = create_app(retrieval, Projects((SHOP,)), Guard(), AccessLimits())
    transport = httpx2.ASGITransport(app, client=("127.0.0.1", 4321))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for text, tags in (("a parser of headers", ["runlog"]), ("a parser of hats", ["fix"])):
            await client.post("/log", json={"text": text, "tags": tags})

        async def asked(**more: object) -> httpx2.Response:
            body = {"query": "parser of headers", **more}
            return await client.post("/augmented-context", json=body)

        plain, named = (await asked()).json(), (await asked(tags=["fix"])).json()
        assert [one["tags"] for one in plain["context"]] == [["runlog"], ["fix"]]
        assert [one["tags"] for one in named["context"]] == [["fix"], ["runlog"]]
        assert named["context"][0]["why"][-1] == "tagged fix: +0.050"
        assert (await asked(tags=[])).json() == plain
        for wrong, said in (
            ("fix", 'tags is the string "fix"; it must be a list'),
            ([3], "tags[0] is the number 3"),
            (["fix", " "], "tags[1] is empty"),
            (["a\0"], "tags[0] has a NUL"),
            (["a" * 1_001], "tags[0] has over 1,000"),
            (["a"] * 51, "51 tags, above 50"),
        ):
            answer = await asked(tags=wrong)
            assert answer.status_code == 400 and said in answer.json()["error"]


async def test_all_that_is_wrong_with_a_question_is_said_at_once() -> None:
    retrieval = Retrieval(VolatileItems(Ticking(), Numbered()), None, Ticking())
    with pytest.raises(InvalidQuestion, match=r"query required; tags\[0\] is empty; limit is 0"):
        await retrieval.context(ContextQuestion(SHOP, " ", limit=0, tags=("",)))


async def test_what_says_the_same_is_one_entry_that_names_the_others(tmp_path: Path) -> None:
    source, clock = Source(tmp_path / "m.db"), Ticking()
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        new = NewObservation("bugfix", "a retry got over the timeout", Origin("run", "r1"), SHOP)
        (seen,) = await memory.observations.add(new, by=SYSTEM)
        items, shelf = SqliteItems(memory, SYSTEM), ObservationRetriever(memory)
        retrieval = Retrieval(items, None, clock, observations=shelf)
        asked = ContextQuestion(SHOP, "retry timeout")
        (alone,) = (await retrieval.context(asked)).found
        logged = await retrieval.log(SHOP, NewItem(f"{alone.candidate.text}\n"))
        await retrieval.log(SHOP, NewItem("a retry got over the timeout, twice"))
        found = (await retrieval.context(asked)).found
    both = {str(seen.citation), logged.citation}
    (one,) = (one for one in found if one.candidate.citation in both)
    assert {one.candidate.citation, *one.candidate.about["also"]} == both
    assert one.why[-1] == "the same stands in 1 more"
    assert len(found) == 2
    (other,) = (one for one in found if one.candidate.citation not in both)
    assert "also" not in other.candidate.about


async def test_what_may_not_be_told_is_neither_merged_nor_named(tmp_path: Path) -> None:
    source, clock = Source(tmp_path / "m.db"), Ticking()
    tea = ReadDocument("Tea", "markdown", (ReadPiece("Green tea is picked in spring.", (), 1, 1),))
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        await memory.documents.keep(SHOP, "tea.md", FileState(1, "", ""), tea, by=SYSTEM)
        items, shelf = SqliteItems(memory, SYSTEM), SqliteDocuments(memory)
        retrieval = Retrieval(items, None, clock, documents=shelf)
        await retrieval.log(SHOP, NewItem("Green tea is  picked in spring."))
        asked = ContextQuestion(SHOP, "when is green tea picked?")
        (both,) = (await retrieval.context(asked)).found
        (one,) = (await retrieval.context(replace(asked, files=["src/*"]))).found
    assert len(both.candidate.about["also"]) == 1
    assert one.candidate.kind == "memory" and "also" not in one.candidate.about


def test_where_a_text_stands_and_what_it_is_tagged_answer_like_its_words() -> None:
    at_path = scored(1, 0.0, "src/json/data_loader.ts").candidate
    tagged = scored(2, 0.0, None, ["incident"]).candidate
    found = {one.candidate.place: one for one in fused("json data loader", [at_path, tagged])}
    assert found[1].relevance == 1.0 and found[1].why[1] == "1. of all by words"
    assert found[2].relevance == 0.0 and found[2].why[1] == "says no word of the query"
    (first, _) = fused("incident", [at_path, tagged])
    assert (first.candidate, first.relevance) == (tagged, 1.0)


def test_merged_texts_keep_the_best_and_cost_their_addresses() -> None:
    kinds = ("code", "memory", "document")
    same = [
        Scored(Candidate(kind, 1, text, f"dcf://{kind}/1", "", {}), 1 - place / 10, ())
        for place, (kind, text) in enumerate(zip(kinds, ("a  b\n", "c", "\ta b"), strict=True))
    ]
    found = merged(same)
    assert [one.candidate.kind for one in found] == ["code", "memory"]
    assert found[0].candidate.about["also"] == ["dcf://document/1"]
    (first, second) = with_costs(found)
    text = "a  b\n\ndcf://code/1\ndcf://document/1"
    assert first.tokens == count_tokens(text) + 8 and second.candidate == found[1].candidate
    assert merged([same[0], same[1]]) == same[:2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "shop").mkdir(parents=True)
    return folder


@pytest.fixture
async def failing(project: Path) -> AsyncIterator[Retrieval]:
    """A project whose code says no word of the errors that are asked for, as its log does."""
    code = "def x{0}():\n    a = {0}\n    return a\n\n\ndef y{0}():\n    return {0}\n"
    for number, name in enumerate(("order.js", "order.go", "order.py", "tea.py", "cup.py")):
        (project / "shop" / name).write_text(code.format(number))
    shelf = CodeRetrievers(project.parent / "code")
    retrieval = Retrieval(VolatileItems(Ticking(), Numbered()), shelf, Ticking())
    for number in range(9):
        text = f"The payment of customer {number} failed: order is not open. " + "So it was. " * 9
        await retrieval.log(str(project), NewItem(text, tags=("error",)))
    yield retrieval
    await shelf.close()


# As the documentations of Node (Errors), Go (runtime/debug) and Python (traceback) show them.
NODE = """Error: order is not open, the payment of the customer failed
    at Object.<anonymous> (/srv/shop/order.js:7:11)
    at Module._compile (node:internal/modules/cjs/loader:1256:14)"""
GO = """panic: order is not open, the payment of the customer failed

goroutine 1 [running]:
main.charge(...)
\t/srv/shop/order.go:7 +0x1d"""
PYTHON = """Traceback (most recent call last):
  File "/srv/shop/tea.py", line 7, in <module>
  File "/srv/shop/order.py", line 2, in charge
ValueError: order is not open, the payment of the customer failed"""


@pytest.mark.parametrize("budget", [None, 600])
@pytest.mark.parametrize(
    ("trace", "named"),
    [
        (NODE, ["shop/order.js"]),
        (GO, ["shop/order.go"]),
        (PYTHON, ["shop/order.py", "shop/tea.py"]),
    ],
)
async def test_a_stack_trace_leads_to_its_lines_before_all_else(
    failing: Retrieval, project: Path, trace: str, named: list[str], budget: int | None
) -> None:
    asked = ContextQuestion(str(project), trace, budget=budget, tags=("error",))
    found = [one.candidate for one in (await failing.context(asked)).found]
    assert [one.about["file_path"] for one in found[: len(named)]] == named
    assert any(one.kind == "memory" for one in found)
    line = int(trace.partition(f"{named[0]}")[2].lstrip('":, line')[:1])
    assert found[0].about["first_line"] <= line <= found[0].about["last_line"]


async def test_a_long_stack_trace_leaves_room_for_what_is_known_of_the_error(
    failing: Retrieval, project: Path
) -> None:
    names = ("order.js", "order.go", "order.py", "tea.py", "cup.py")
    trace = "order is not open\n" + "\n".join(f"    at x (shop/{name}:2:1)" for name in names)
    found = (await failing.context(ContextQuestion(str(project), trace))).found
    paths = [one.candidate.about["file_path"] for one in found[:3]]
    assert paths == [f"shop/{name}" for name in names[:3]]
    # No more than these three are lifted above what all else can be worth.
    assert [one.score for one in found[:3]] == [1, 0.99, 0.98] and found[3].score <= 0.8
    assert any(one.candidate.kind == "memory" for one in found)
