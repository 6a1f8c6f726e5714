"""Shared documents: what a plain Python model does, on the twin and on a real Redis, and no change
is lost."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from campaigns import campaign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from control_plane import Backend, RedisBackend
from control_plane.script import Script
from control_plane.twin import Twin
from dcf.workspace import JsonDocuments, WorkspaceError, show_path
from dcf.workspace.document_edit import merge as merge_edit

KEY = "doc:model"
NAMES = st.sampled_from(["a", "b", "x y", "a.b", '"', "$json", ""])
NUMBERS = (
    st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False, width=64)
    | st.integers(-5, 5)
)
SCALARS = st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "text", "ä😀", "\x00", "1"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
PATHS = st.lists(NAMES | st.integers(-2, 2), max_size=3).map(tuple)
CALLS = st.one_of(
    st.tuples(st.sampled_from(["set", "append", "ensure", "merge"]), PATHS, VALUES),
    st.tuples(st.just("increment"), PATHS, NUMBERS),
    st.tuples(st.sampled_from(["copy", "move"]), PATHS, PATHS, st.booleans()),
    st.tuples(st.just("delete"), PATHS),
)
NOTHING = object()
Place = tuple[str | int, ...]


class Refusal(Exception):
    """The model refuses."""


class Model:
    """The operations, said with nested Python values and no regard for speed."""

    def __init__(self) -> None:
        self.root: Any = {}

    def at(self, path: Place) -> Any:
        node = self.root
        for step in path:
            try:
                fits = isinstance(node, dict if isinstance(step, str) else list)
                node = node[step] if fits else NOTHING  # type: ignore[index]
            except (KeyError, IndexError):
                node = NOTHING
        return node

    def set(self, path: Place, value: Any) -> None:
        value = copy.deepcopy(value)
        if not path:
            if not isinstance(value, dict):
                raise Refusal
            self.root = value
            return
        draft = copy.deepcopy(self.root)
        holder, key = [draft], 0
        place: Any = (holder, key)
        for step in path:
            node = place[0][place[1]]
            if isinstance(step, str) and not isinstance(node, dict):
                node = place[0][place[1]] = {}
            if isinstance(step, int):
                if not isinstance(node, list) or not -len(node) <= step < len(node):
                    raise Refusal
            else:
                node.setdefault(step, None)
            place = (node, step)
        place[0][place[1]] = value
        self.root = holder[0]

    def append(self, path: Place, value: Any) -> None:
        old = self.at(path)
        if not path or not (old is NOTHING or isinstance(old, list)):
            raise Refusal
        self.set(
            path, ([] if old is NOTHING else old) + (value if isinstance(value, list) else [value])
        )

    def ensure(self, path: Place, value: Any) -> None:
        if path and (self.at(path) is NOTHING or self.at(path) is None):
            self.set(path, value)

    def merge(self, path: Place, value: Any) -> None:
        old = self.at(path)
        # Checked against the examples of RFC 7386 in test_document_edit.
        self.set(
            path, merge_edit({"it": old} if old is not NOTHING else {}, ("it",), value, [])["it"]
        )

    def increment(self, path: Place, delta: Any) -> None:
        old = 0 if self.at(path) is NOTHING else self.at(path)
        if not path or isinstance(old, bool) or not isinstance(old, int | float):
            raise Refusal
        total = old + delta
        if total in (float("inf"), float("-inf")):
            raise Refusal
        self.set(path, total)

    def copy(self, source: Place, target: Place, overwrite: bool) -> None:
        if self.at(source) is NOTHING or (not overwrite and self.at(target) is not NOTHING):
            raise Refusal
        self.set(target, self.at(source))

    def move(self, source: Place, target: Place, overwrite: bool) -> None:
        source, target = self.counted(source), self.counted(target)
        if target[: len(source)] == source:
            raise Refusal
        if self.at(source) is NOTHING:
            return
        self.copy(source, target, overwrite)
        if source[: len(target)] != target:
            self.delete(source)

    def delete(self, path: Place) -> None:
        if not path:
            self.root = {}
        elif self.at(path) is not NOTHING:
            del self.at(path[:-1])[path[-1]]

    def counted(self, path: Place) -> Place:
        """``path`` with elements counted from the start."""
        steps: list[str | int] = []
        for step in path:
            node = self.at(tuple(steps))
            inside = isinstance(step, int) and isinstance(node, list) and -len(node) <= step < 0
            steps.append(step + len(node) if inside and isinstance(step, int) else step)
        return tuple(steps)


def open_backend(url: str | None) -> Backend:
    return Twin(lambda: 1_790_000_000_000_000) if url is None else RedisBackend.from_url(url)


async def emptied(url: str | None) -> Backend:
    if url is not None:
        async with Redis.from_url(url) as client:
            await client.flushall()
    return open_backend(url)


def exactly(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


async def apply(documents: JsonDocuments, call: tuple[Any, ...]) -> Any:
    """Make a call over JSON texts and paths, as tools do; the new document."""
    name, path, *rest = call
    operation = getattr(documents, name)
    if name in ("copy", "move"):
        done = await operation(KEY, show_path(path), show_path(rest[0]), overwrite=rest[1])
    else:
        done = await operation(KEY, show_path(path), *[json.dumps(value) for value in rest])
    return done.value


@campaign(shares=20)
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(calls=st.lists(CALLS, max_size=8))
async def test_documents_agree_with_plain_python(
    share: int, backend_url: str | None, calls: list[tuple[Any, ...]]
) -> None:
    backend = await emptied(backend_url)
    documents, model = JsonDocuments(backend), Model()
    await documents.create(KEY)
    for call in calls:
        before = copy.deepcopy(model.root)
        try:
            getattr(model, call[0])(*call[1:])
        except (Refusal, OverflowError):
            model.root = before
            with pytest.raises(WorkspaceError):
                await apply(documents, call)
        else:
            assert exactly(await apply(documents, call)) == exactly(model.root)
        assert exactly(await documents.read(KEY)) == exactly(model.root)
    await backend.close()


class Fresh:
    """Documents in as many processes as there are backends."""

    def __init__(self, url: str | None, writers: int) -> None:
        shared = open_backend(None)
        self.backends = [shared if url is None else open_backend(url) for _ in range(writers)]
        self.documents = [JsonDocuments(backend) for backend in self.backends]

    async def close(self) -> None:
        for backend in self.backends:
            await backend.close()


async def test_no_increment_is_lost_between_writers(backend_url: str | None) -> None:
    await (await emptied(backend_url)).close()
    fresh = Fresh(backend_url, 4)
    await asyncio.gather(
        *[writer.increment(KEY, "$.n", 1) for writer in fresh.documents for _ in range(50)],
        *[writer.append(KEY, "$.l", "1") for writer in fresh.documents for _ in range(10)],
    )
    assert await fresh.documents[0].read(KEY) == {"n": 200, "l": [1] * 40}
    await fresh.close()


class LosesAnswers:
    """A backend that makes every write twice, as a client does whose first answer was lost."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self.command, self.close = inner.command, inner.close

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        await self._inner.run(script, keys, args)
        return await self._inner.run(script, keys, args)


async def test_a_write_that_is_said_twice_counts_once(backend_url: str | None) -> None:
    backend = await emptied(backend_url)
    documents = JsonDocuments(LosesAnswers(backend))
    for _ in range(5):
        await documents.increment(KEY, "$.n", 1)
    assert await documents.read(KEY, "n") == 5
    await backend.close()


async def test_writers_that_never_win_are_told(backend_url: str | None) -> None:
    backend = await emptied(backend_url)
    numbers = itertools.count()

    class Rival:
        """Somebody writes between every read and every write."""

        run, close = backend.run, backend.close

        async def command(self, *args: str | int) -> Any:
            answer = await backend.command(*args)
            await backend.command("JSON.SET", KEY, ".", f'{{"rival":{next(numbers)}}}')
            return answer

    with pytest.raises(WorkspaceError, match="nothing was written"):
        await JsonDocuments(Rival()).set(KEY, "$.mine", "1")
    assert "mine" not in json.loads(await backend.command("JSON.GET", KEY))
    await backend.close()


async def test_a_document_is_plain_json_for_any_client(backend_url: str | None) -> None:
    backend = await emptied(backend_url)
    documents = JsonDocuments(backend)
    await documents.create(KEY, {"steps": 3, "ratio": 0.5, "names": ["ä"]})
    assert json.loads(await backend.command("JSON.GET", KEY, "$.names[0]")) == ["ä"]
    await backend.command("JSON.SET", KEY, "$.steps", "4")
    assert await documents.read(KEY, "$.steps") == 4
    await backend.close()


async def test_creation_keeps_what_is_there_unless_told_otherwise(backend_url: str | None) -> None:
    backend = await emptied(backend_url)
    documents = JsonDocuments(backend)
    await documents.create(KEY, '{"a": 1}')
    with pytest.raises(WorkspaceError, match="overwrite is not set"):
        await documents.create(KEY, '{"a": 2}')
    assert await documents.read(KEY) == {"a": 1}
    await documents.create(KEY, "{'a': 2}", overwrite=True)
    assert await documents.read(KEY) == {"a": 2}
    made = await documents.create(key_prefix="doc:plan:")
    assert made.key.startswith("doc:plan:")
    assert len(made.key) == len("doc:plan:") + 32
    for prefix in ("cp:", "plan:", "doc", "{doc:}"):
        with pytest.raises(WorkspaceError):
            await documents.create(key_prefix=prefix)
    with pytest.raises(WorkspaceError, match="root of a document is an object"):
        await documents.create("doc:list", "[1]")
    await backend.close()


async def test_only_a_read_needs_the_document(backend_url: str | None) -> None:
    backend = await emptied(backend_url)
    documents = JsonDocuments(backend)
    with pytest.raises(WorkspaceError, match="Key not found"):
        await documents.read("doc:none")
    with pytest.raises(WorkspaceError, match="nothing at"):
        await documents.copy("doc:none", "a", "b")
    assert (await documents.delete("doc:none", "$.a")).value == {}
    assert await documents.read("doc:none", "$.a") is None
    assert (await documents.set("doc:new", "a.b", "done")).value == {"a": {"b": "done"}}
    await backend.close()


async def test_what_is_no_document_is_left_alone(backend_url: str | None) -> None:
    backend = await emptied(backend_url)
    documents = JsonDocuments(backend)
    await backend.command("SET", "doc:text", "mine")
    for call in (
        documents.read("doc:text"),
        documents.set("doc:text", "a", "1"),
        documents.create("doc:text", overwrite=True),
    ):
        with pytest.raises(WorkspaceError, match="no JSON document"):
            await call
    assert await backend.command("GET", "doc:text") == "mine"
    await backend.command("JSON.SET", "doc:list", ".", "[1]")
    with pytest.raises(WorkspaceError, match="root of a document"):
        await documents.set("doc:list", "a", "1")
    assert await documents.read("doc:list", "[0]") == 1
    await backend.close()


async def test_a_document_grows_to_its_limit_and_not_over_it(backend_url: str | None) -> None:
    backend = await emptied(backend_url)
    documents = JsonDocuments(backend, max_bytes=2000)
    await documents.create(KEY, {"a": "x" * 1500})
    with pytest.raises(WorkspaceError, match="at most 2000"):
        await documents.copy(KEY, "$.a", "$.b")
    deep = "$" + ".d" * 63
    await documents.set(KEY, deep, "1")
    with pytest.raises(WorkspaceError, match="deeper"):
        await documents.set(KEY, f"{deep}.d.d", "1")
    assert set(await documents.read(KEY)) == {"a", "d"}
    await backend.close()


@pytest.mark.parametrize(
    "path",
    ["$..a", "$[*]", "$.a[?(@.x)]", '$["a"];FLUSHALL', "a'].b['", "$.a\r\nFLUSHALL", "$.a[0:1]"],
)
async def test_no_path_reaches_redis_as_it_was_written(backend_url: str | None, path: str) -> None:
    backend = await emptied(backend_url)
    documents = JsonDocuments(backend)
    await documents.create(KEY, {"a": [1]})
    for call in (
        documents.read(KEY, path),
        documents.set(KEY, path, "1"),
        documents.delete(KEY, path),
    ):
        with pytest.raises(WorkspaceError, match="is no path"):
            await call
    assert await documents.read(KEY) == {"a": [1]}
    await backend.close()
