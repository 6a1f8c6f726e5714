"""``dcf memory observations`` and ``context``: what was seen, and what of it agents are told."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
from memory_user import MemoryUser

from dcf.cli.memory.opening import now_ms
from dcf.memory import Actor, Memory, NewAgent, NewObservation, Origin, Source, random_id

DAY_MS = 86_400_000
BUSY = NewObservation(
    type="bugfix",
    title="Pay: a retry got over Busy",
    origin=Origin("run", "order-1", state="Pay"),
    project="/shop",
    workflow="orders",
    subtitle="Pay failed with Busy, and a later try succeeded.",
    facts=("Retry of Busy: up to 6 times, first after 1 s.",),
    concepts=("problem-solution",),
    note="the gateway of customer 4711",
)
ENDED = replace(
    BUSY,
    type="discovery",
    title="Sorry ended the run with NotPaid",
    subtitle="Nothing caught the error.",
    origin=Origin("run", "order-2", state="Sorry"),
    facts=(),
    concepts=("gotcha",),
)
BACK = replace(
    BUSY,
    title="Return: a retry got over Busy",
    workflow="returns",
    origin=Origin("run", "back-1", 7),
)


@pytest.fixture
def seen(memory: MemoryUser) -> MemoryUser:
    """A memory in which three runs of two workflows left something, one of them long ago."""

    async def fill() -> None:
        now = time.time_ns() // 1_000_000
        source = Source(memory.file)
        async with Memory.open(source, clock=lambda: now, new_id=random_id) as opened:
            by = Actor("user", "ada")
            ages = {"order-1": 2, "order-2": 1, "order-3": 0, "back-1": 100}
            for one in (BUSY, ENDED, BACK, replace(BUSY, origin=Origin("run", "order-3"))):
                run = one.origin.source_id
                told = replace(
                    one,
                    project=str(memory.folder),
                    at=now - ages[run] * DAY_MS,
                    note=f"{one.note}, {run}",
                )
                await opened.observations.observe(Origin("run", run), "1", told, by=by)

    memory.home.mkdir()
    asyncio.run(fill())
    return memory


def titles(memory: MemoryUser, *arguments: object) -> list[str]:
    found = memory.ok("observations", "list", *arguments)["observations"]
    return [one["title"].partition(":")[0].partition(" ")[0] for one in found]


def test_a_home_without_observations_says_how_to_begin(memory: MemoryUser) -> None:
    for command in (["observations", "list"], ["context"]):
        done = memory(*command)
        assert done.code == 0
        assert "dcf run workflows/order-processing.json" in done.out
    assert memory.ok("observations", "list")["observations"] == []
    assert memory.ok("context")["text"] == ""
    assert not memory.file.exists(), "who only looks makes no file"


def test_what_was_seen_is_listed_newest_first_and_counted(seen: MemoryUser) -> None:
    found = seen.ok("observations", "list")
    assert [(one["title"], one["times"]) for one in found["observations"]] == [
        (BUSY.title, 2),
        (ENDED.title, 1),
    ]
    assert found["observations"][0]["source"] == "dcf://run/order-1/state/Pay"
    shown = seen("observations", "list").out
    assert "bugfix" in shown and "Pay: a retry got over Busy" in shown
    assert "4711" not in shown


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--days", 200], ["Pay", "Sorry", "Return"]),
        (["--type", "bugfix"], ["Pay"]),
        (["--concept", "gotcha"], ["Sorry"]),
        (["--source", "run"], ["Pay", "Sorry"]),
        (["--source", "amp_thread"], []),
        (["--source-id", "order-3"], ["Pay"]),
        (["--turn", 1], []),
        (["--workflow", "returns", "--since", "2020-01-01"], ["Return"]),
        (["--until", "2020-01-01", "--since", "2019-01-01T00:00:00+00:00"], []),
        (["--since", "yesterday"], ["Pay", "Sorry"]),
        (["--days", 200, "--until", "2 months ago"], ["Return"]),
        (["--project", "."], ["Pay", "Sorry"]),
        (["--project", "/other"], []),
        (["--limit", 1], ["Pay"]),
    ],
)
def test_options_leave_what_they_name(
    seen: MemoryUser, options: list[object], expected: list[str]
) -> None:
    assert titles(seen, *options) == expected


def test_pages_follow_each_other(seen: MemoryUser) -> None:
    first = seen.ok("observations", "list", "--limit", 1)
    assert first["more"] is True
    id_ = first["observations"][0]["id"]
    for name in (id_[:20], f"dcf://observation/{id_}"):
        assert titles(seen, "--limit", 1, "--before", name) == ["Sorry"]
    assert id_.removeprefix("observation-")[:8] in seen("observations", "list", "--limit", 1).out


def test_one_is_shown_in_full_with_each_time_and_what_that_run_said(seen: MemoryUser) -> None:
    (one,) = seen.ok("observations", "list", "--type", "bugfix")["observations"]
    for name in (one["id"], one["id"][12:20], one["uri"], f"dcf://observation/{one['id'][12:20]}"):
        (got,) = seen.ok("observations", "get", name)["observations"]
        assert got["facts"] == list(BUSY.facts)
        assert [it["note"] for it in got["seen"]] == [
            "the gateway of customer 4711, order-3",
            "the gateway of customer 4711, order-1",
        ]
    shown = seen("observations", "get", one["id"]).out
    assert "dcf://run/order-1/state/Pay" in shown and "customer 4711, order-3" in shown


def test_words_find_observations_and_filters_leave_what_they_name(seen: MemoryUser) -> None:
    def found(*arguments: object) -> list[tuple[str, str]]:
        document = seen.ok("observations", "search", *arguments)
        return [(one["workflow"], one["title"]) for one in document["observations"]]

    both = [("orders", BUSY.title), ("returns", BACK.title)]
    assert sorted(found("busy", "--days", 200)) == both
    assert found("busy") == [("orders", BUSY.title)]
    assert found("busy", "--days", 200, "--workflow", "returns") == [("returns", BACK.title)]
    assert found("busy", "--source-id", "order-3") == [("orders", BUSY.title)]
    assert found("busy", "--type", "decision") == []
    assert found("busy", "--days", 200, "--turn", 7) == [("returns", BACK.title)]
    assert found("busy", "--pinned") == []
    seen.ok(
        "observations", "pin", seen.ok("observations", "search", "busy")["observations"][0]["id"]
    )
    assert found("busy", "--pinned") == [("orders", BUSY.title)]
    assert "4711" not in seen("observations", "search", "busy").out


def test_a_timeline_has_what_was_before_and_after(seen: MemoryUser) -> None:
    def around(point: object, *more: object) -> list[str]:
        document = seen.ok("observations", "timeline", point, *more)
        return [one["title"] for one in document["observations"]]

    everything = [BACK.title, ENDED.title, BUSY.title]
    assert around("2020-01-01") == everything
    (ended,) = seen.ok("observations", "list", "--type", "discovery")["observations"]
    assert around(ended["id"][:20]) == everything
    assert around(ended["uri"], "--each", 1) == [ENDED.title, BUSY.title]
    assert around("2020-01-01", "--workflow", "returns") == [BACK.title]
    assert "▶" in seen("observations", "timeline", ended["id"]).out
    assert seen.refused("observations", "timeline", "nothing")[0] == 2


def test_wrong_options_are_all_said(seen: MemoryUser) -> None:
    arguments = ["--type", "bugfx", "--concept", "gotch", "--since", "soon", "--format", "table"]
    code, document = seen.refused("observations", "list", *arguments)
    assert code == 2
    messages = {problem["file"]: problem for problem in document["problems"]}
    assert set(messages) == {"--type", "--concept", "--since", "--format"}
    assert "did you mean bugfix?" in messages["--type"]["hint"]
    code, document = seen.refused("observations", "get", "nothing")
    assert (code, document["error"]["code"]) == (2, "memory_unknown_observation")


def test_the_context_says_what_is_told_and_what_it_costs(seen: MemoryUser) -> None:
    told = seen.ok("context")
    assert (told["workflows"], told["mode"]) == (["orders"], "index")
    assert told["budget"] == {"index": 800, "details": 0, "rows": 50}
    assert [one["layer"] for one in told["items"]] == ["index", "index"]
    assert told["tokens"] <= 800 and all(one["tokens"] <= 40 for one in told["items"])
    assert "Return" not in told["text"] and "4711" not in told["text"]
    full = seen.ok("context", "--mode", "full", "--budget", 3_800)
    assert full["budget"] == {"index": 800, "details": 3_000, "rows": 50}
    assert {one["layer"] for one in full["items"]} == {"details"}
    assert BUSY.facts[0] in full["text"]
    small = seen.ok("context", "--budget", 70)
    assert small["tokens"] <= 70 and (len(small["items"]), small["left_out"]) == (1, 1)
    shown = seen("context")
    assert "The next run of orders is told 2 observations" in shown.out


def test_a_context_is_of_what_is_named(seen: MemoryUser) -> None:
    seen.patch.setenv("DCF_CONTEXT_DAYS", "200")
    assert "Return" in seen.ok("context", "--workflow", "returns")["text"]
    assert seen.ok("context", "--workflow", "other")["text"] == ""
    # As a worker whose skills are generated in another folder: a project of its own.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DCF_GENERATED", "elsewhere/generated")
        other = seen.ok("context", "--workflow", "returns")
        assert (other["text"], other["projects"]) == ("", [str(seen.folder / "elsewhere")])
        assert seen.ok("context")["for"] is None
    small = seen("context", "--workflow", "returns", "--budget", "9")
    assert "1 observation does not fit in 9 tokens" in small.out
    seen.patch.setenv("DCF_CONTEXT", "off")
    assert "DCF_CONTEXT is off" in seen("context").out
    for arguments in (["--for", "dog", "x"], ["--mode", "loud"]):
        code, document = seen.refused("context", *arguments)
        assert code == 2, document


def test_the_context_of_an_agent_is_what_it_would_be_told(seen: MemoryUser) -> None:
    async def fill() -> list[str]:
        project, by = str(seen.folder), Actor("user", "ada")
        async with Memory.open(Source(seen.file), clock=now_ms, new_id=random_id) as opened:
            task = replace(BUSY, title="Task: busy", workflow="task:review", project=project)
            found = replace(BUSY, title="A model read it", workflow="", project=project)
            await opened.observations.add(task, found, by=by)
            ids = []
            for name, tags in (("ada", ()), ("kim", ("role:conductor",))):
                agent = await opened.agents.create(NewAgent(name, tags=tags), by=by)
                ids.append((await opened.sessions.begin(agent.id, by=by, project=project)).id)
            return ids

    ada, kim = asyncio.run(fill())
    # She does no Task and conducts nothing: whatever is known of this project, she is told none.
    for named in (("agent", "ada"), ("session", ada)):
        nobody = seen.ok("context", "--for", *named)
        assert (nobody["text"], nobody["items"], nobody["workflows"]) == ("", [], [])
        assert "is told nothing" in seen("context", "--for", *named).out
    for named in (("agent", "kim"), ("session", kim)):
        told = seen.ok("context", "--for", *named)
        assert (len(told["items"]), "Task: busy" in told["text"]) == (1, True)


def test_a_setting_that_cannot_be_is_said_before_anything_else(seen: MemoryUser) -> None:
    for name, value in (("DCF_CONTEXT", "loud"), ("DCF_CONTEXT_INDEX", "-1")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            code, document = seen.refused("observations", "list")
        (problem,) = document["problems"]
        assert (code, problem["code"]) == (2, "CLI_CONTEXT")
        assert name in problem["message"] and value in problem["message"]
        assert problem["file"] == name


def test_all_settings_that_cannot_be_are_said_at_their_names(memory: MemoryUser) -> None:
    wrong = {"DCF_CONTEXT": "loud", "DCF_CONTEXT_ROWS": "x", "DCF_EXTRACT": "yes"}
    wrong |= {"DCF_EXTRACT_HOUR": "-1", "DCF_EXTRACT_QUEUE": "0"}
    for name, value in (*wrong.items(), ("DCF_EXTRACT_DAY", "7")):
        memory.patch.setenv(name, value)
    code, document = memory.refused("observations", "list")
    found = {one["file"]: one for one in document["problems"]}
    assert (code, set(found)) == (2, set(wrong))
    assert all(repr(wrong[name]) in one["message"] for name, one in found.items())
