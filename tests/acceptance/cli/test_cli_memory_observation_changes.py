"""``dcf memory observations forget``: what is forgotten, what is refused, and the way back."""

from __future__ import annotations

import asyncio
import shlex
import time
from dataclasses import replace

import pytest
from memory_user import MemoryUser

from dcf.memory import Actor, Memory, NewObservation, Origin, Source, random_id

BUSY = NewObservation(
    type="bugfix",
    title="Pay: a retry got over Busy",
    origin=Origin("run", "order-1", state="Pay"),
    project="/shop",
    workflow="orders",
    note="the gateway of customer 4711",
)
ENDED = replace(
    BUSY,
    type="discovery",
    title="Sorry: ended the run with NotPaid",
    origin=Origin("run", "order-2", state="Sorry"),
)
OLD = replace(
    BUSY, title="Return: Busy at first", workflow="returns", origin=Origin("run", "back-1"), at=1
)


@pytest.fixture
def seen(memory: MemoryUser) -> MemoryUser:
    """A memory with three observations, one of them seen by two runs, one of them very old."""

    async def fill() -> None:
        now = time.time_ns() // 1_000_000
        source = Source(memory.file)
        async with Memory.open(source, clock=lambda: now, new_id=random_id) as opened:
            by = Actor("user", "ada")
            for one in (BUSY, ENDED, OLD, replace(BUSY, origin=Origin("run", "order-3"))):
                run = one.origin.source_id
                await opened.observations.observe(Origin("run", run), "1", one, by=by)

    memory.home.mkdir()
    asyncio.run(fill())
    return memory


def there(memory: MemoryUser, *more: object) -> list[str]:
    found = memory.ok("observations", "list", "--days", 36_000, *more)["observations"]
    return sorted(one["title"].partition(":")[0] for one in found)


def id_of(memory: MemoryUser, title: str) -> str:
    found = memory.ok("observations", "list", "--days", 36_000)["observations"]
    return next(str(one["id"]) for one in found if one["title"].startswith(title))


def test_what_would_go_is_shown_and_goes_with_yes(seen: MemoryUser) -> None:
    arguments = ("observations", "forget", "--topic", "busy")
    tried = seen(*arguments)
    assert tried.code == 0
    assert "2 observations would be forgotten; --yes does it" in tried.out
    assert "Pay: a retry got over Busy" in tried.out
    document = seen.ok(*arguments)
    assert (document["status"], document["way_back"]) == ("tried", None)
    assert there(seen) == ["Pay", "Return", "Sorry"]
    done = seen.ok(*arguments, "--yes", "--reason", "not true any more")
    assert (done["status"], len(done["observations"])) == ("forgotten", 2)
    assert there(seen) == ["Sorry"]
    assert seen.ok("observations", "search", "busy")["observations"] == []
    assert "Busy" not in seen.ok("context")["text"]
    history = seen("history").out
    assert "not true any more" in history and f"-{BUSY.title}" in history
    # The way back is one command, and brings back what each run said.
    back = shlex.split(done["way_back"])
    assert back[:2] == ["dcf", "memory"]
    assert seen(*back[2:], "--yes").code == 0
    assert there(seen) == ["Pay", "Return", "Sorry"]
    assert there(seen, "--source-id", "order-3") == ["Pay"]
    (pay,) = seen.ok("observations", "get", id_of(seen, "Pay"))["observations"]
    assert [one["note"] for one in pay["seen"]] == [BUSY.note, BUSY.note]


@pytest.mark.parametrize(
    ("options", "rest"),
    [
        (["--type", "discovery"], ["Pay", "Return"]),
        (["--source", "run", "--source-id", "order-3"], ["Return", "Sorry"]),
        (["--workflow", "returns"], ["Pay", "Sorry"]),
        (["--until", "1999-12-31"], ["Pay", "Sorry"]),
        (["--since", "2000-01-01"], ["Return"]),
        (["--project", "/shop", "--topic", "ended"], ["Pay", "Return"]),
        (["--since", "1970-01-01"], []),
        (["--project", "/other"], ["Pay", "Return", "Sorry"]),
        (["--concept", "gotcha"], ["Pay", "Return", "Sorry"]),
        (["--turn", 3], ["Pay", "Return", "Sorry"]),
    ],
)
def test_what_the_filters_leave_is_forgotten(
    seen: MemoryUser, options: list[object], rest: list[str]
) -> None:
    done = seen.ok("observations", "forget", *options, "--yes")
    assert there(seen) == rest
    assert len(done["observations"]) == 3 - len(rest)
    assert done["status"] == ("forgotten" if len(rest) < 3 else "unchanged")


def test_ids_their_beginnings_and_addresses_name_what_goes(seen: MemoryUser) -> None:
    pay, sorry = id_of(seen, "Pay"), id_of(seen, "Sorry")
    begin = pay.removeprefix("observation-")[:8]
    seen.ok("observations", "forget", begin, f"dcf://observation/{sorry}", "--yes")
    assert there(seen) == ["Return"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], "memory_observations_all", "all of them"),
        (["nothing"], "memory_unknown_observation", "no observation nothing"),
        (["--type", "bugfx"], "memory_choice_word", "there is no type 'bugfx'"),
        (["--topic", "…"], "memory_observation_topic", "has no word"),
        (["21d186d3", "--type", "bugfix"], "memory_observations_ids", "21d186d3"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_goes(
    seen: MemoryUser, arguments: list[str], code: str, said: str
) -> None:
    for sure in ([], ["--yes"]):
        exit_code, document = seen.refused("observations", "forget", *arguments, *sure)
        (problem,) = document["problems"]
        assert (exit_code, problem["code"]) == (2, code), document
        assert said in problem["message"] and problem["hint"]
    assert there(seen) == ["Pay", "Return", "Sorry"]


@pytest.mark.parametrize("event", ["1-x", "-3", "3-1", "1-", "0-999999999", "x", "9" * 30])
def test_a_stretch_of_changes_that_is_none_is_refused(seen: MemoryUser, event: str) -> None:
    code, document = seen.refused("rollback", f"--event={event}", "--yes")
    assert (code, document["problems"][0]["code"]) == (2, "CLI_EVENT")
    assert event in document["problems"][0]["message"]


def test_what_is_pinned_is_marked_told_first_and_kept(seen: MemoryUser) -> None:
    old = id_of(seen, "Return").removeprefix("observation-")[:8]
    seen.patch.setenv("DCF_GENERATED", "/shop/generated")
    assert "Return" not in seen.ok("context", "--workflow", "returns")["text"]
    done = seen.ok("observations", "pin", old, "--reason", "still so")
    assert (done["status"], done["observations"][0]["pinned"]) == ("pinned", True)
    assert seen.ok("observations", "pin", old)["status"] == "unchanged"
    told = seen.ok("context", "--workflow", "returns")
    assert "Return" in told["text"] and told["items"][0]["why"] == "pinned, seen once"
    assert "pinned" in seen("context", "--workflow", "returns").out
    assert "\N{PUSHPIN}" in seen("observations", "list", "--pinned").out
    assert "\N{PUSHPIN}" not in seen("observations", "list").out
    assert "\N{PUSHPIN} pinned" in seen("observations", "get", old).out
    kept = seen("observations", "forget", "--topic", "busy", "--yes")
    assert "1 is pinned and left alone" in kept.out
    assert there(seen) == ["Return", "Sorry"]
    assert there(seen, "--pinned") == ["Return"]
    assert "still so" in seen("history").out
    assert seen.ok("observations", "unpin", old)["status"] == "unpinned"
    assert seen.ok("observations", "forget", old, "--yes")["pinned"] == 0
    assert there(seen) == ["Sorry"]
    code, document = seen.refused("observations", "pin", "nothing")
    assert (code, document["error"]["code"]) == (2, "memory_unknown_observation")


def test_what_is_edited_is_shown_cleaned_and_taken_back(seen: MemoryUser) -> None:
    pay = id_of(seen, "Pay").removeprefix("observation-")[:8]
    key = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kL5"
    arguments = ["--title", "Pay: busy at noon", "--fact", "ask later", "--subtitle", f"with {key}"]
    done = seen.ok("observations", "edit", pay, *arguments, "--reason", "it is so")
    one = done["observation"]
    assert (done["status"], one["title"], one["facts"], one["times"]) == (
        "edited",
        "Pay: busy at noon",
        ["ask later"],
        2,
    )
    assert "[redacted: github token]" in one["subtitle"] and key not in str(done)
    shown = seen("observations", "list").out
    assert "busy at noon" in shown and BUSY.title not in shown
    assert "+title: Pay: busy at noon" in seen("history").out
    assert seen.ok("observations", "edit", pay, "--title", "Pay: busy at noon")["way_back"] is None
    assert seen.ok("observations", "edit", pay, "--no-facts")["observation"]["facts"] == []
    assert seen(*shlex.split(done["way_back"])[2:], "--yes").code != 0, "the facts changed since"
    for arguments in ([], ["--title", ""], ["--title", "x" * 121], ["--no-facts", "--fact", "x"]):
        assert seen("observations", "edit", pay, *arguments).code == 2, arguments
    code, document = seen.refused("observations", "edit", "nothing", "--title", "x")
    assert (code, document["error"]["code"]) == (2, "memory_unknown_observation")


def test_a_block_says_what_was_promoted(seen: MemoryUser) -> None:
    seen.ok("init", "ada")
    one, two = id_of(seen, "Pay"), id_of(seen, "Sorry")
    promote = ("observations", "promote")
    tried = seen(*promote, one[:20], "--block", "human", "--dry-run")
    assert "1 observation would be added to ada/human" in tried.out
    assert seen.text("ada") == ""
    done = seen.ok(*promote, one, f"dcf://observation/{two}", "--block", "human")
    assert done["status"] == "promoted"
    assert seen.text("ada").splitlines() == [
        f"**{BUSY.title}** (bugfix)",
        f"(dcf://observation/{one})",
        f"**{ENDED.title}** (discovery)",
        f"(dcf://observation/{two})",
    ]
    again = seen.ok(*promote, one, "--block", "human", "--agent", "ada")
    assert (again["status"], again["way_back"]) == ("unchanged", None)
    assert [it["id"] for it in again["already"]] == [one]
    assert seen(*shlex.split(done["way_back"])[2:], "--yes").code == 0
    assert seen.text("ada") == ""


def test_what_cannot_be_promoted_is_told(seen: MemoryUser) -> None:
    one = id_of(seen, "Pay")
    code, document = seen.refused("observations", "promote", one, "--block", "human")
    assert (code, document["error"]["code"]) == (1, "memory_no_default")
    seen.ok("init", "ada")
    seen.ok("remember", "ada", "", "--block", "human", "--limit", 20)
    code, document = seen.refused("observations", "promote", one, "--block", "human")
    assert (code, document["error"]["code"]) == (1, "memory_over_limit")
    assert "human" in document["error"]["message"] and "limit is 20" in document["error"]["message"]
    code, document = seen.refused("observations", "promote", one, "--block", "humann")
    assert "Did you mean human" in document["error"]["message"]
    assert seen.refused("observations", "promote", "0000", "--block", "human")[0] == 2
