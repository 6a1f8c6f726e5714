"""Playbooks: which errors fit them, what is counted, when they are stale, what is on record."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    InvalidEntry,
    Memory,
    NewObservation,
    NewPlaybook,
    Origin,
    PlaybookExists,
    Source,
    Subject,
    UnknownPlaybook,
    pattern_words,
)
from dcf.memory.playbooks.error_words import error_words
from dcf.memory.playbooks.matching import likeness

BY = Actor("user", "ada")
DAY = 86_400_000
BUSY = NewPlaybook("ProviderBusy: HTTP 503 from payments", "Wait a minute.", "payments", "/shop")


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
async def memory(tmp_path: Path, clock: Ticking) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as opened:
        yield opened


# Messages of real programs, in pairs: of the same error on another day, and of another error.
@pytest.mark.parametrize(
    ("pattern", "same", "other"),
    [
        (
            "TypeError: parser.on is not a function",
            "    at /app/src/x.js:4\nTypeError: parser.on is not a function (/app/src/p.js:12:7)",
            "TypeError: Cannot read properties of undefined (reading 'on')",
        ),
        (
            "ConnectionRefusedError: [Errno 111] Connection refused at 10.0.0.1:5432",
            "ConnectionRefusedError: [Errno 111] Connection refused at 192.168.7.3:6000",
            "ConnectionResetError: [Errno 104] Connection reset by peer",
        ),
        (
            "error TS2339: Property 'foo' does not exist on type 'Bar'.",
            "src/a/b.ts:10:5 - error TS2339: Property 'foo' does not exist on type 'Bar'.",
            "src/a/b.ts:10:5 - error TS2551: Property 'foo' does not exist on type 'Bar'.",
        ),
        (
            "HTTP 503 from payments",
            "order 4711: HTTP/1.1 503 from https://payments.example/v1 payments",
            "order 4711: HTTP 404 from payments",
        ),
        (
            "fatal: unable to access 'https://git.example/a.git/': Could not resolve host: git.a.b",
            "fatal: unable to access 'https://git.example/z.git/': Could not resolve host: git.a.b",
            "fatal: not a git repository (or any of the parent directories): .git",
        ),
        (
            "KeyError: 'sku'",
            "Traceback (most recent call last):\n  File \"/x/y.py\", line 3\nKeyError: 'sku'",
            "KeyError: 'price'",
        ),
        ("States.Timeout", "Pay ended the run with States.Timeout", "Pay failed with States.Heart"),
    ],
)
def test_the_same_error_fits_and_another_does_not(pattern: str, same: str, other: str) -> None:
    words = pattern_words(pattern)
    assert likeness(words, error_words(same)).is_match
    assert not likeness(words, error_words(other)).is_match


ids = st.one_of(
    st.uuids().map(str),
    st.integers(1_000, 10**12).map(str),
    st.integers(2**32, 2**160).map("{:x}".format),
    st.integers(1, 2**64).map(hex),
    st.datetimes().map(lambda at: at.isoformat()),
    st.ip_addresses(v=4).map(str),
    st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=2, max_size=4).map(
        lambda parts: f"/{'/'.join(parts)}.py"
    ),
    st.from_regex(r"https://[a-z]{3,9}\.org/[a-z0-9]{1,9}", fullmatch=True),
)
ERROR = ("lease", "socket", "parser", "invoice", "quota", "schema", "upload", "mutex", "tenant")
telling = st.lists(st.sampled_from(ERROR), min_size=1, max_size=6, unique=True)
OTHER = ("harbour", "tea", "kettle", "violin", "meadow", "glacier")
others = st.lists(st.sampled_from(OTHER), min_size=1, max_size=60)


@given(telling, st.tuples(ids, ids, ids, ids))
def test_ids_never_change_a_match(said: list[str], given_ids: tuple[str, ...]) -> None:
    first, second, third, fourth = given_ids
    text = " ".join(said)
    wanted = pattern_words(f"{text} {first}: {second}")
    found = likeness(wanted, error_words(f"{third} {text} ({fourth})"))
    assert found == likeness(pattern_words(text), error_words(text))
    assert found.score == 1.0


@given(telling, others, ids)
def test_errors_that_share_no_word_never_match(
    said: list[str], strange: list[str], one: str
) -> None:
    # They share what every error has, and an id.
    pattern = pattern_words(f"Error: {' '.join(said)} failed at line 7 of {one}")
    error = error_words(f"Error: {' '.join(strange)} failed at line 7 of {one}")
    assert likeness(pattern, error).score == 0.0


def test_words_that_are_scattered_over_a_long_log_are_no_error() -> None:
    pattern = pattern_words("database pool exhausted")
    log = ["step done"] * 200
    log[0], log[100], log[199] = "database ready", "pool open", "quota exhausted"
    assert not likeness(pattern, error_words("\n".join(log))).is_match
    coded = pattern_words("database pool exhausted HTTP 503 errno 111")
    assert not likeness(coded, error_words("\n".join([*log, "HTTP 503 errno 111"]))).is_match
    log[150] = "the database pool is exhausted"
    assert likeness(pattern, error_words("\n".join(log))).score == 1.0


async def test_a_pattern_that_says_more_of_an_error_comes_before_one_that_says_a_word(
    memory: Memory,
) -> None:
    error = "TimeoutError: card service did not answer"
    for pattern in (error, "Timeout"):
        await memory.playbooks.add(replace(BUSY, pattern=pattern), by=BY)
    found = await memory.playbooks.match("/shop", error)
    assert [one.playbook.pattern for one in found] == [error, "Timeout"]


async def test_the_best_comes_first_and_of_equal_ones_what_helped_more(memory: Memory) -> None:
    first = await memory.playbooks.add(BUSY, by=BY)
    second = await memory.playbooks.add(replace(BUSY, resolution="Use another region."), by=BY)
    await memory.playbooks.add(replace(BUSY, pattern="ProviderBusy: HTTP 503", project="/x"), by=BY)
    await memory.playbooks.add(replace(BUSY, pattern="quota exceeded"), by=BY)
    wider = await memory.playbooks.add(replace(BUSY, pattern=f"{BUSY.pattern} of Ann"), by=BY)
    await memory.playbooks.count(second.id, helped=True, used_by="ada", by=BY)
    found = await memory.playbooks.match("/shop", "Task 17: ProviderBusy (HTTP 503 from payments)")
    assert [one.playbook.id for one in found] == [second.id, first.id, wider.id]
    # provider, busy, http, payments, 503; and "ann" of the last one.
    assert [one.score for one in found] == [1.0, 1.0, 0.833]
    assert found[2].reason == (
        "says 5 of 6 words of the pattern: provider, busy, http, payments, 503; not ann"
    )
    assert found[0].text == (
        "Seen before: ProviderBusy: HTTP 503 from payments\n"
        "Resolution: Use another region.\n"
        "Owner: payments; helped once, failed never"
    )
    assert await memory.playbooks.match("/shop", " ") == ()
    assert len(await memory.playbooks.match("/shop", BUSY.pattern, limit=1)) == 1


async def test_success_is_counted_and_a_run_once(memory: Memory) -> None:
    made = await memory.playbooks.add(BUSY, by=BY)
    for used_by in ("ada", "ada", "dcf://run/r1", "dcf://run/r1"):
        made = await memory.playbooks.count(made.id, helped=True, used_by=used_by, by=BY)
    made = await memory.playbooks.count(made.id, helped=False, used_by="dcf://run/r1", by=BY)
    assert (made.helped, made.failed) == (3, 1)
    assert [use.by for use in made.uses] == ["ada", "ada", "dcf://run/r1", "dcf://run/r1"]
    for number in range(30):
        made = await memory.playbooks.count(made.id, helped=True, used_by=f"u{number}", by=BY)
    assert (made.helped, len(made.uses)) == (33, 20)


async def test_no_use_is_lost_that_many_count_at_once(memory: Memory) -> None:
    made = await memory.playbooks.add(BUSY, by=BY)
    count = memory.playbooks.count
    await asyncio.gather(
        *(count(made.id, helped=n % 3 > 0, used_by=f"dcf://run/{n}", by=BY) for n in range(30))
    )
    known = await memory.playbooks.get(made.id)
    assert (known.helped, known.failed, len(known.uses)) == (20, 10, 20)


async def test_a_playbook_is_stale_that_was_not_confirmed_or_fails(
    memory: Memory, clock: Ticking
) -> None:
    made = await memory.playbooks.add(BUSY, by=BY)
    clock.now += 179 * DAY
    assert made.stale(clock.now) == ""
    clock.now += DAY
    assert made.stale(clock.now) == "it was not confirmed for 180 days"
    assert made.stale(clock.now, days=365) == ""
    (found,) = await memory.playbooks.match("/shop", BUSY.pattern)
    assert found.text.endswith("Stale: it was not confirmed for 180 days")
    # Whoever looks at it again, and whom it helps, confirms it; whom it does not help does not.
    edited = await memory.playbooks.edit(made.id, by=BY)
    assert (edited.stale(clock.now), edited.resolution) == ("", made.resolution)
    clock.now += 200 * DAY
    failed = await memory.playbooks.count(made.id, helped=False, used_by="bob", by=BY)
    assert failed.stale(clock.now) == "it failed in 1 of its last 1 uses"
    helped = await memory.playbooks.count(made.id, helped=True, used_by="bob", by=BY)
    assert helped.stale(clock.now) == ""
    for _ in range(9):
        helped = await memory.playbooks.count(made.id, helped=True, used_by="bob", by=BY)
    for _ in range(6):
        helped = await memory.playbooks.count(made.id, helped=False, used_by="bob", by=BY)
    assert helped.stale(clock.now) == "it failed in 6 of its last 10 uses"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"pattern": " "}, "memory_text_empty"),
        ({"pattern": "Error: failed at line 4711 of /a/b.py"}, "memory_playbook_pattern"),
        ({"pattern": "The a of"}, "memory_playbook_pattern"),
        ({"pattern": "x" * 4_001}, "memory_playbook_long"),
        ({"resolution": ""}, "memory_text_empty"),
        ({"owner": "o" * 121}, "memory_playbook_long"),
        ({"owner": "a\0b"}, "memory_text_nul"),
        ({"sources": ("hunter22",)}, "memory_playbook_source"),
    ],
)
async def test_what_cannot_be_kept_is_refused(
    memory: Memory, wrong: dict[str, Any], code: str
) -> None:
    with pytest.raises(InvalidEntry) as refused:
        await memory.playbooks.add(replace(BUSY, **wrong), by=BY)
    assert [one.code for one in refused.value.problems] == [code]
    assert await memory.playbooks.list() == ()


async def test_every_change_is_on_record_and_can_be_taken_back(memory: Memory) -> None:
    made = await memory.playbooks.add(BUSY, by=BY)
    edited = await memory.playbooks.edit(made.id, by=BY, owner="platform")
    counted = await memory.playbooks.count(made.id, helped=True, used_by="ada", by=BY)
    removed = await memory.playbooks.remove(made.id, by=Actor("user", "bob", "too old"))
    assert removed == counted and edited.owner == "platform"
    events = await memory.events.list(limit=10)
    assert [(one.operation, one.by.name) for one in events] == [
        ("deleted", "bob"),
        ("updated", "ada"),
        ("updated", "ada"),
        ("created", "ada"),
    ]
    with pytest.raises(UnknownPlaybook):
        await memory.playbooks.get(made.id)
    await memory.events.undo(events[0].seq, by=BY)
    back = await memory.playbooks.get(made.id)
    assert (back.owner, back.helped, back.uses) == ("platform", 1, counted.uses)
    await memory.events.undo(events[1].seq, by=BY)
    await memory.events.undo(events[2].seq, by=BY)
    back = await memory.playbooks.get(made.id)
    assert (back.owner, back.helped, back.uses) == ("payments", 0, ())
    await memory.events.undo(events[3].seq, by=BY)
    assert await memory.playbooks.list() == () and await memory.check() == ()


def seen(title: str, **more: object) -> NewObservation:
    base = NewObservation(
        "bugfix",
        title,
        Origin("run", "r"),
        "/shop",
        "orders",
        subtitle="Pay failed with Busy, and a later try succeeded.",
        facts=("Retry of Busy: up to 3 times, first after 1 s.",),
        concepts=("problem-solution",),
    )
    return replace(base, **more)  # type: ignore[arg-type]


async def test_what_was_got_over_repeatedly_is_proposed_until_a_person_accepts(
    memory: Memory,
) -> None:
    news = (
        (seen("Pay: a retry got over ProviderBusy"), 4),
        (seen("Ship: a retry got over Error"), 3),
        (seen("Ask: a retry got over Slow"), 2),
        (seen("Pay: a retry got over Elsewhere", project="/x"), 5),
        (seen("Pay ended the run with Lost", type="discovery", concepts=("gotcha",)), 5),
    )
    for new, times in news:
        for run in range(times):
            source = Origin("run", f"{new.title}-{run}")
            await memory.observations.observe(source, "1/0", replace(new, origin=source), by=BY)
    found = await memory.playbooks.proposals("/shop")
    assert [(one.pattern, one.times) for one in found] == [
        ("ProviderBusy", 4),
        # "Error" alone tells nothing apart.
        ("Ship: Error", 3),
    ]
    assert found[0].resolution == (
        "Try again.\nPay failed with Busy, and a later try succeeded.\n"
        "Retry of Busy: up to 3 times, first after 1 s."
    )
    assert await memory.playbooks.list() == ()
    one = found[0]
    accepted = NewPlaybook(one.pattern, "Wait.", "ann", "/shop", (one.observation_id,))
    made = await memory.playbooks.add(accepted, by=BY)
    assert [left.pattern for left in await memory.playbooks.proposals("/shop")] == ["Ship: Error"]
    with pytest.raises(PlaybookExists, match=made.id):
        await memory.playbooks.add(accepted, by=BY)
    # One that a person wrote for the same error is enough, too.
    await memory.playbooks.add(NewPlaybook("Ship: broken", "Wait.", "ann", "/shop"), by=BY)
    assert [left.pattern for left in await memory.playbooks.proposals("/shop")] == ["Ship: Error"]
    await memory.playbooks.add(NewPlaybook("Ship: Error", "Wait.", "ann", "/shop"), by=BY)
    assert await memory.playbooks.proposals("/shop") == ()
    assert [left.pattern for left in await memory.playbooks.proposals("/shop", times=2)] == ["Slow"]


async def test_who_is_forgotten_is_named_no_more_and_what_helps_others_stays(
    memory: Memory,
) -> None:
    ann = "Ann Zimmer"
    owned = await memory.playbooks.add(replace(BUSY, owner=ann), by=BY)
    await memory.playbooks.count(owned.id, helped=True, used_by=ann, by=BY)
    named = await memory.playbooks.add(replace(BUSY, pattern=f"Busy for {ann}"), by=BY)
    subject = Subject.of(ann)
    receipt = await memory.forgetting.begin(subject, by=BY)
    await memory.forgetting.forget(subject, receipt)
    assert await memory.forgetting.find(subject) == ()
    kept = await memory.playbooks.get(owned.id)
    assert (kept.owner, kept.resolution, kept.helped) == ("[forgotten]", BUSY.resolution, 1)
    assert [use.by for use in kept.uses] == ["[forgotten]"]
    assert (await memory.playbooks.get(named.id)).pattern == "[forgotten]"
    found = await memory.playbooks.match("/shop", f"[forgotten] {BUSY.pattern}")
    assert [one.playbook.id for one in found] == [owned.id]
