"""The file of a run may be anybody's: what it holds is what a run holds, or it is refused before
anything is written."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import DEFINITION, RUN, Flow, linear, seed
from hypothesis import given, settings
from hypothesis import strategies as st
from test_run_export import sealed_run
from workers import run_to_end
from worlds import TwinWorld

from control_plane import (
    BadDocument,
    BadRunFile,
    Failure,
    NotExportable,
    export_run,
    history,
    pack,
    payload,
    restore_run,
    run_file,
    run_file_lines,
    run_file_shapes,
    run_lists,
    unpack,
)
from dcf.workflow import explain, finalize, read_timeline, shelve

pytestmark = settled(*CONTRACT)

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def lines() -> Lines:
    """Those of a good file, but the last."""
    data = asyncio.run(sealed_run(TwinWorld()))[1]
    return [json.loads(line) for line in gzip.decompress(data).splitlines()[:-1]]


def packed(lines: Lines) -> bytes:
    """The file of ``lines``, with the digest that fits."""
    body = "".join(payload.to_text(line) + "\n" for line in lines)
    end = {"lines": len(lines), "sha256": payload.digest(body)}
    return gzip.compress((body + payload.to_text(end) + "\n").encode())


def mended(lines: Lines) -> Lines:
    """``lines`` with the digests that somebody makes who changed something."""
    previous, digests, made = "", list[str](), list[dict[str, Any]]()
    for line in lines:
        text: Any = line.get("text")
        if line.get("kind") == "history":
            entry, at, event, _ = json.loads(text)
            previous = history.link(previous, ["at", at, "event", event])
            digests.append(previous)
            text = payload.to_text([entry, at, event, previous])
        elif line.get("kind") == "chain":
            text = payload.to_text({**fields(text), "digest": previous})
            text = payload.to_text([one for pair in json.loads(text).items() for one in pair])
        elif line.get("kind") == "audit":
            audit = json.loads(text)
            seal = "".join(f"{one}\n" for one in digests[: audit["history"]["events"]])
            audit["history"]["sha256"] = sha256(seal.encode()).hexdigest()
            text = payload.to_text(audit)
        made.append(line if text is None else {**line, "text": text})
    return made


def fields(text: str) -> dict[str, str]:
    flat = json.loads(text)
    return dict(zip(flat[::2], flat[1::2], strict=True))


def changed(lines: Lines, kind: str, change: Callable[[Any], Any]) -> Lines:
    """``lines`` with the JSON of the first part of ``kind`` changed; ``meta`` is the document."""
    at, member = next(
        (at, "meta" if kind == "meta" else "text")
        for at, line in enumerate(lines)
        if (kind == "meta" and "meta" in line) or line.get("kind") == kind
    )
    value = json.loads(lines[at][member])
    change(value)
    return [*lines[:at], {**lines[at], member: payload.to_text(value)}, *lines[at + 1 :]]


def put(value: Any, path: str, new: Any) -> None:
    """``value.path`` is ``new`` from now on; of an event, in the text that it is."""
    *above, last = path.split(".")
    for name in above:
        value = value[name]
    if isinstance(value, list):
        value[int(last)] = new
    else:
        value[last] = new


@pytest.mark.parametrize(
    ("kind", "path", "value", "said"),
    [
        ("meta", "error", {"error": 5}, "line 2: .*error.error: 5 is not of type 'string'"),
        ("meta", "started_at", "x", "line 2: .*started_at: 'x' is not of type 'integer'"),
        ("meta", "finished_at", "x", "finished_at: 'x' is not of type 'integer'"),
        ("meta", "finished_at", None, "without finished_at"),
        ("meta", "finished_at", 10**15, "greater than the maximum"),
        ("meta", "created_at", 5.0, "created_at: 5.0 is not of type 'integer'"),
        ("meta", "states", 5, "states: 5 is not of type 'array'"),
        ("meta", "status", "succeeded", "ctl.status is .*, and status succeeded"),
        ("meta", "input", {"$json": 5}, r"input.\$json is 5, and must be a text"),
        ("meta", "input", {"$json": "["}, r"input.\$json: it is not JSON"),
        ("meta", "ctl.born", "x", "ctl.born: 'x' does not match"),
        ("meta", "ctl.born", "5\n", r"ctl.born: '5\\n' does not match"),
        ("meta", "ctl.born", "9" * 400, "ctl.born: .* is too long"),
        ("meta", "ctl.finalized", False, "without ctl.finalized"),
        ("meta", "ctl.restoring", "x", "ctl.restoring, which no finished run has"),
        ("meta", "workflow_id", "other", "line 2: .* it is of other, and line 1 says"),
        ("history", "0", "x", "its id is 'x', and must be"),
        ("history", "0", "1", "its id is '1', and must be"),
        ("history", "0", "0-0", "its id is '0-0', and must be"),
        ("history", "0", f"{2**64 - 1}-{2**64 - 1}", "its id is .*, and must be"),
        ("history", "0", f"1-{2**64}", "its id is .*, and must be"),
        ("history", "0", "9999999999999-0", "each id is greater than the one before"),
        ("history", "1", "9" * 16, "its time is .*, and must be"),
        ("history", "2", '{"type":"X","try":"one"}', "try: 'one' is not of type 'integer'"),
        ("history", "2", '{"type":NaN}', "NaN is not a number in JSON"),
        ("audit", "history", "x", "history: 'x' is not of type 'object'"),
        ("audit", "history.events", "x", "history.events: 'x' is not of type 'integer'"),
        ("audit", "history.events", None, "history.events: None is not of type 'integer'"),
        ("audit", "history.events", [], r"history.events: \[\] is not of type 'integer'"),
        ("audit", "workflow_id", "other", "audit: it is of another run"),
        ("state", "execution_metrics", {"llm_calls": 1e308}, "llm_calls: 1e\\+308 is greater"),
        ("state", "times.entered", True, "times.entered: True is not of type 'integer'"),
        ("state", "ctl.fence", 10**30, "ctl.fence: 1000"),
        ("state", "path", "Other", "its path is 'Other', and its name another"),
        ("output", "ok", 1, "ok: 1 is not of type 'boolean'"),
        ("chain", "3", "x", "'events' is 'x', and must be a number"),
    ],
)
def test_a_part_that_is_not_what_its_schema_says_is_told_with_its_line_and_the_rule(
    lines: Lines, kind: str, path: str, value: Any, said: str
) -> None:
    bad = changed(lines, kind, lambda document: put(document, path, value))
    if kind != "audit":
        bad = mended(bad)
    with pytest.raises(BadRunFile, match=said):
        unpack(packed(bad))


@pytest.mark.parametrize(
    ("kind", "member", "value", "said"),
    [
        (
            "history",
            "text",
            '["1-1","5","{\\"type\\":\\"X\\"}","0"]',
            "history 1-1: the event does",
        ),
        ("history", "text", '["1-1","soon","{}","0"]', "it is not the history of a run"),
        ("history", "text", '["1-1","5","7","0"]', "it is not the history of a run"),
        ("history", "name", "x", "it has a name, 'x'"),
        ("chain", "text", '["digest","0"]', "events are missing"),
        ("blob", "text", "other", "does not match its digest"),
        ("state", "name", "/etc/passwd", "cannot be a path"),
        ("state", "name", "Elsewhere", "its name another"),
        ("state", "text", "[" * 100_000, "it is not JSON"),
        ("state", "text", f'{{"a":{"[" * 300}{"]" * 300}}}', "nested deeper than 120 levels"),
        ("state", "text", '{"a":"\\ud800"}', "lone surrogate"),
        ("state", "text", '{"path":"A","ctl":{}}', "it is not the state M.* of a run"),
        ("state", "kind", "meta", "it is not a part of a run"),
        ("state", "kind", ["state"], "it is not a part of a run"),
        ("state", "kind", {}, "it is not a part of a run"),
        ("output", "text", "7", "it is not the output M.* of a run"),
        ("chain", "text", '["a"]', "it is not an array of names and values"),
        ("chain", "text", '["a",1]', "it is not an array of strings"),
    ],
)
def test_what_was_changed_in_a_file_is_told_with_its_place(
    lines: Lines, kind: str, member: str, value: Any, said: str
) -> None:
    at = next(at for at, line in enumerate(lines) if line.get("kind") == kind)
    with pytest.raises(BadRunFile, match=said):
        unpack(packed([*lines[:at], {**lines[at], member: value}, *lines[at + 1 :]]))


def test_a_seal_over_other_events_and_a_part_that_is_there_twice_are_refused(lines: Lines) -> None:
    other = changed(lines, "audit", lambda audit: put(audit, "history.events", 1))
    with pytest.raises(BadRunFile, match="its seal does not match"):
        unpack(packed(other))
    for kind in ("state", "chain", "audit"):
        one = next(line for line in lines if line.get("kind") == kind)
        with pytest.raises(BadRunFile, match=f"there is a second {kind}"):
            unpack(packed([*lines, one]))
    with pytest.raises(BadRunFile, match="there is no path"):
        unpack(packed([line for line in lines if line.get("kind") != "path"]))
    with pytest.raises(BadRunFile, match="audit: it is missing"):
        unpack(packed([line for line in lines if line.get("kind") != "audit"]))


@pytest.mark.parametrize("value", ["another", {"$json": "7"}])
def test_an_output_that_is_not_the_one_of_the_history_is_refused(lines: Lines, value: Any) -> None:
    at = next(at for at, line in enumerate(lines) if of(line) == ("output", "M[0]/T"))
    [*other] = lines
    other[at : at + 1] = changed([lines[at]], "output", lambda output: put(output, "data", value))
    with pytest.raises(BadRunFile, match=r"the output of M\[0\]/T: it does not match its digest"):
        unpack(packed(other))


def of(line: dict[str, Any]) -> tuple[str | None, str | None]:
    return line.get("kind"), line.get("name")


def test_whatever_of_a_run_is_missing_the_file_is_refused(lines: Lines) -> None:
    """All its parts belong to it but a blob that nothing refers to, and what is there of a state
    that failed: it may have ended without an output."""
    needed = {
        "path": r"there is no path (.*), and the file has its state",
        "state": r"the path (.*): its state is missing",
        "output": r"the state (.*): its output is missing",
        "blob": r"blob (.*), to which it refers, is missing",
        "history": "history", "chain": "history", "audit": "audit: it is missing",
    }  # fmt: skip
    kept = []
    for at, line in enumerate(lines):
        kind, name = of(line)
        if kind is None:
            continue
        try:
            unpack(packed([*lines[:at], *lines[at + 1 :]]))
        except BadRunFile as error:
            found = re.search(needed[kind], str(error))
            assert found and found.groups() in ((), (name,)), str(error)
        else:
            kept.append((kind, name))
    unknown = changed(lines, "meta", lambda meta: put(meta, "states", ["M", "Z", "{0}"]))
    with pytest.raises(BadRunFile, match="the path %7B0%7D: its state is missing"):
        unpack(packed(unknown))
    unreferred = payload.encode("y" * 300_000).digest
    assert kept == [("output", "M@1"), ("output", "M[1]/U"), ("blob", unreferred)]


def test_a_lone_surrogate_in_a_blob_is_refused(lines: Lines) -> None:
    at = next(at for at, line in enumerate(lines) if line.get("kind") == "blob")
    body = [payload.to_text(line).encode() + b"\n" for line in lines]
    body[at] = json.dumps({**lines[at], "text": "\ud800"}, separators=(",", ":")).encode() + b"\n"
    end = {"lines": len(body), "sha256": sha256(b"".join(body)).hexdigest()}
    with pytest.raises(BadRunFile, match=f"line {at + 1}: .*surrogates not allowed"):
        unpack(gzip.compress(b"".join(body) + json.dumps(end).encode() + b"\n"))


_VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, -1, 1.5, 1e308, 10**30, 2**63, "", "x", "\0", "9" * 400, [], {}]),
    st.sampled_from(["../etc", "\x1b[31mred", ["a"], {"a": 1}, {"$json": 1}, {"$blob": "x"}]),
)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each member inside ``value``."""
    members = enumerate(value) if isinstance(value, list) else ()
    for name, inner in value.items() if isinstance(value, dict) else members:
        yield (*above, name)
        yield from places(inner, (*above, name))


def mutate(data: st.DataObject, value: Any) -> Any:
    """``value`` with one member changed or removed."""
    *above, last = data.draw(st.sampled_from(list(places(value))))
    inner = value
    for name in above:
        inner = inner[name]
    if data.draw(st.integers(0, 3)) == 0:
        del inner[last]
    else:
        inner[last] = data.draw(_VALUES)
    return value


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_run_with_a_field_changed_is_refused_or_harms_nobody_who_reads_it(
    lines: Lines, data: st.DataObject
) -> None:
    kinds = ["meta", "state", "output", "audit", "chain", "history"]
    kind = data.draw(st.sampled_from(kinds))
    at = data.draw(
        st.sampled_from(
            [at for at, one in enumerate(lines) if one.get("kind", next(iter(one))) == kind]
        )
    )
    member = "meta" if kind == "meta" else "text"
    value = json.loads(lines[at][member])
    if kind == "history" and data.draw(st.booleans()):
        value[2] = payload.to_text(mutate(data, json.loads(value[2])))
    else:
        mutate(data, value)
    bad = [*lines[:at], {**lines[at], member: payload.to_text(value)}, *lines[at + 1 :]]
    # Nobody can make digests of what is no history.
    with suppress(LookupError, TypeError, ValueError, AttributeError):
        bad = mended(bad)
    try:
        export = unpack(packed(bad))
    except BadRunFile:
        return

    async def read() -> None:
        shelved = await shelve(export)
        await read_timeline(history.read(shelved, RUN))
        await explain(shelved, RUN)
        world = TwinWorld()
        store = world.store()
        await seed(store, linear("A"), run="other")
        try:
            await restore_run(store, export)
        except BadDocument:
            pass
        else:
            await read_timeline(history.read(store, RUN))
        known = {run.workflow_id for run in (await run_lists.list_runs(store, 10)).runs}
        assert "other" in known
        [page async for page in run_lists.ended_runs(store, 2**53, run_lists.STATUSES)]
        await store.remove(RUN)
        assert await store.run_many([RUN]) == []

    asyncio.run(read())


def test_a_content_of_many_lines_or_values_is_refused_before_it_takes_memory(
    lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "".join(payload.to_text(line) + "\n" for line in lines[:2]).encode()
    state = next(line for line in lines if line.get("kind") == "state")
    nested = payload.to_text({**state, "text": f'{{"a":[{"[]," * 4_000_000}[]]}}'}).encode()
    listed = f'{{"kind":[{"[]," * 4_000_000}[]]}}'.encode()
    bombs = {
        "line 1: .*more than 1,024 bytes": b"[]," * 10_000_000,
        "line 1: it is not JSON": b"\n" * 32_000_000,
        "line 3: it is not a part": start + b"\n" * 32_000_000,
        "line 3: .*a part of a run": start + listed + b"\n\n",
        "line 3: .*more than 1,000,000 values": start + nested + b"\n\n",
    }
    for said, content in bombs.items():
        data = gzip.compress(content, 1)
        tracemalloc.start()
        with pytest.raises(BadRunFile, match=said):
            unpack(data)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100_000_000, said
    monkeypatch.setattr(run_file_lines, "MOST_LINES", 10)
    with pytest.raises(BadRunFile, match="line 11: the file has more than 10 lines"):
        unpack(packed(lines))


@pytest.mark.parametrize(
    ("module", "bound", "most"),
    [
        (run_file, "LONGEST_LINE", 900),
        (run_file, "MOST_LINES", 10),
        (run_file_shapes, "MOST_VALUES", 5),
    ],
)
def test_what_could_not_be_read_again_is_not_written(
    lines: Lines, monkeypatch: pytest.MonkeyPatch, module: Any, bound: str, most: int
) -> None:
    export = unpack(packed(lines))
    assert pack(export)
    monkeypatch.setattr(module, bound, most)
    with pytest.raises(NotExportable):
        pack(export)


def test_a_document_that_was_damaged_is_named_and_not_written(lines: Lines) -> None:
    export = unpack(packed(lines))
    [state] = [one for one in export.parts if (one.kind, one.name) == ("state", "M")]
    damaged = replace(state, text='{"path":"M","ctl":{}}')
    parts = tuple(damaged if one is state else one for one in export.parts)
    with pytest.raises(
        NotExportable, match=r"is damaged \(line \d+: it is not the state M of a run"
    ):
        pack(replace(export, parts=parts))


async def test_a_run_that_ends_without_an_error_name_is_read_from_its_file() -> None:
    """The language allows a Fail state that gives neither error nor cause."""
    world = TwinWorld()
    store = world.store()
    flow: Flow = {"start": "A", "states": {"A": {"fail": None}}}
    await seed(store, flow)
    await store.put_blob(RUN, DEFINITION)
    await run_to_end(world, flow)
    await finalize(store, RUN, by="test")
    assert unpack(pack(await export_run(store, RUN))).run.error == Failure(None, "")
