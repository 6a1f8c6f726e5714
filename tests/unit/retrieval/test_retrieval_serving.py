"""The service over HTTP: its answers, its refusals, and who sees what."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from memory_world import Numbered, Ticking

from dcf.retrieval import (
    Item,
    Lifetimes,
    NewItem,
    Projects,
    Retrieval,
    UnknownItem,
    VolatileItems,
    projects_of,
)
from dcf.retrieval import retrieval as retrieval_module
from dcf.retrieval.backend import Elsewhere
from dcf.retrieval.ranking import by_guide
from dcf.retrieval.serving import AccessLimits, create_app, networks_of
from dcf.retrieval.serving import app as app_module
from dcf.tools.serving import Guard

JSON = {"Content-Type": "application/json"}
# The two requests, and what is answered, as augmented retrieval was first specified.
LOG = {
    "text": "Tests failing: TypeError: this.parser.on is not a function",
    "tags": ["error", "runlog"],
    "source": "pytest",
    "filePath": "data_loader/json_data_loader.ts",
}
ASK = {
    "query": "this.parser.on is not a function in json_data_loader.ts",
    "filePath": "data_loader/json_data_loader.ts",
    "limit": 8,
}
Open = Callable[..., AbstractAsyncContextManager[httpx2.AsyncClient]]


@pytest.fixture
def serve() -> Open:
    @asynccontextmanager
    async def opened(
        projects: Projects | None = None,
        token: str | None = None,
        limits: AccessLimits | None = None,
        address: str = "127.0.0.1",
    ) -> AsyncIterator[httpx2.AsyncClient]:
        clock = Ticking()
        app = create_app(
            Retrieval(VolatileItems(clock, Numbered()), None, clock),
            projects or Projects(("/work/shop",)),
            Guard(token=token),
            limits or AccessLimits(),
        )
        transport = httpx2.ASGITransport(app, client=(address, 4321))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client

    return opened


async def said(client: httpx2.AsyncClient, path: str, body: Any, **more: Any) -> tuple[int, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = await client.post(path, content=content, headers=JSON | more)
    return answer.status_code, answer.json()


async def test_what_is_logged_is_answered_as_specified(serve: Open) -> None:
    async with serve() as client:
        status, answer = await said(client, "/log", LOG)
        assert status == 200 and answer["ok"] is True
        stored = answer["stored"]
        assert {name: stored[name] for name in LOG} == LOG
        assert isinstance(stored["id"], str) and stored["timestamp"] > 1_700_000_000_000
        status, answer = await said(client, "/augmented-context", ASK)
        assert status == 200 and answer["query"] == ASK["query"]
        (found,) = answer["context"]
        assert found["type"] == "memory" and 0 < found["score"] <= 1
        assert {name: found[name] for name in LOG} == LOG
        assert found["timestamp"] == stored["timestamp"]
        assert found["citation"] == f"dcf://memory/{stored['id']}" and found["why"]
        _, elsewhere = await said(client, "/augmented-context", {**ASK, "filePath": "a.ts"})
        assert elsewhere["context"] == []
        _, bare = await said(client, "/log", {"text": "parser"})
        assert bare["stored"].keys() == {"id", "text", "tags", "timestamp", "citation"}


async def test_no_secret_is_kept_of_a_path_or_told_again(serve: Open) -> None:
    token = "ghp_aJynacIDLR1nOUNN8JN3Gw75Ca5T6Uj0ce1R"
    address = "postgres://shop:Xk29dLqPz71mWvRt@db.example/shop"
    async with serve() as client:
        stored = (await client.post("/log", json={"text": "t", "filePath": address})).text
        asked = (await client.post("/augmented-context", json={"query": f"why {token}"})).text
        absent = (await client.delete(f"/log/{token}")).text
        unknown = (await client.get(f"/{token}")).text
    assert "Xk29dLqPz71mWvRt" not in stored and "postgres:" in stored
    assert all("aJynacIDLR1n" not in said for said in (asked, absent, unknown))


async def test_the_formula_of_the_guide_is_a_mode(serve: Open) -> None:
    """Jaccard 7/13 * 0.7 + recency * 0.25 + 0.1, by hand."""
    async with serve() as client:
        await said(client, "/log", LOG)
        _, answer = await said(client, "/augmented-context", {**ASK, "mode": "guide"})
        assert answer["context"][0]["score"] == pytest.approx(7 / 13 * 0.7 + 0.25 + 0.1, abs=1e-6)


async def test_the_formula_of_the_guide_keeps_nobody_else_waiting(
    serve: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compares a thousand texts of up to a million characters."""
    computing, go_on = threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        computing.set()
        assert go_on.wait(5)
        return by_guide(*given)

    monkeypatch.setattr(retrieval_module, "by_guide", slow)
    async with serve() as client:
        asking = asyncio.create_task(said(client, "/augmented-context", {**ASK, "mode": "guide"}))
        while not computing.is_set():
            await asyncio.sleep(0.001)
        assert (await said(client, "/log", LOG))[0] == 200
        go_on.set()
        assert (await asking)[0] == 200


async def test_what_a_volatile_service_has_is_not_gone_through_for_one(
    clock: Ticking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/healthz asks for one item."""
    items = VolatileItems(clock, Numbered(), Lifetimes({"runlog": 1}))
    kept = [await items.remember("/work/shop", NewItem(f"item {n}")) for n in range(50)]
    looked: list[Item] = []

    def is_over(_self: Lifetimes, item: Item, now: int) -> bool:
        looked.append(item)
        return False

    monkeypatch.setattr(Lifetimes, "is_over", is_over)
    (found,) = await items.recall("/work/shop", "", limit=1)
    await items.forget("/work/shop", kept[7].id)
    assert looked == [found.item] == [kept[-1]]
    assert len(await items.recall("/work/shop", "item", limit=100)) == 49


async def test_work_behind_the_requests_goes_on_after_an_error_nobody_foresaw(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(app_module, "_AGAIN_S", 0.0)
    clock, done = Ticking(), asyncio.Event()
    tries: dict[str, int] = {}

    def fail(name: str) -> None:
        tries[name] = tries.get(name, 0) + 1
        if tries[name] < 2:
            raise RuntimeError(name)
        if min(tries.get(one, 0) for one in ("sweep", "embed", "night")) == 2:
            done.set()

    class Failing(VolatileItems):
        async def sweep(self, project: str) -> int:
            fail("sweep")
            return 0

        async def keep_up(self, elsewhere: Elsewhere | None = None) -> None:
            fail("embed")

    async def nightly() -> None:
        fail("night")

    retrieval = Retrieval(Failing(clock, Numbered()), None, clock)
    app = create_app(retrieval, Projects(("/work/shop",)), Guard(), AccessLimits(), nightly=nightly)
    async with app.router.lifespan_context(app), asyncio.timeout(5):
        await done.wait()
    told = [str(one.exc_info[1]) for one in caplog.records if one.exc_info]
    assert sorted(told) == ["embed", "night", "sweep"]


async def test_a_log_is_deleted_once(serve: Open) -> None:
    async with serve() as client:
        _, answer = await said(client, "/log", LOG)
        path = f"/log/{answer['stored']['id']}"
        assert (await client.delete(path)).json() == {
            "ok": True,
            "deleted": answer["stored"]["id"],
        }
        gone = await client.delete(path)
        assert gone.status_code == 404 and isinstance(gone.json()["error"], str)
        assert gone.json()["hint"] == UnknownItem.hint


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("/log", {}, "text required"),
        ("/log", {"text": ""}, "text required"),
        ("/log", {"text": None}, "text required"),
        ("/log", {"text": 3}, "text is the number 3; it must be a string"),
        (
            "/log",
            {"text": "a", "tags": "error"},
            'tags is the string "error"; it must be a list of strings',
        ),
        ("/log", {"text": "a", "tags": ["a", 1]}, "tags[1] is the number 1; it must be a string"),
        ("/log", {"text": "a", "filePath": {}}, "filePath is an object; it must be a string"),
        ("/log", b'{"text": "\\ud800"}', "half of a surrogate pair"),
        ("/log", b'{"text": "a", "root": "\\ud800"}', "half of a surrogate pair"),
        ("/log", b"[1]", "the body is no JSON object but a list"),
        ("/log", b"{", "the body is no JSON: "),
        ("/log", b"\xff", "the body is no JSON: its byte 1 is no UTF-8"),
        ("/log", b"[" * 100_000, "nested too deep"),
        ("/augmented-context", {}, "query required"),
        ("/augmented-context", {"query": ""}, "query required"),
        ("/augmented-context", {"query": "a", "limit": 0}, "limit is 0, not between 1 and 100"),
        (
            "/augmented-context",
            {"query": "a", "limit": "8"},
            'limit is the string "8"; it must be a whole',
        ),
        (
            "/augmented-context",
            {"query": "a", "limit": 1.5},
            "limit is the number 1.5; it must be a whole",
        ),
        (
            "/augmented-context",
            b'{"query": "a", "limit": 1e999}',
            "limit is the number Infinity; it must be",
        ),
        ("/augmented-context", {"query": "a", "mode": "best"}, "it must be ranked or guide"),
        ("/augmented-context", {"query": "a\0"}, "query has a NUL"),
    ],
)
async def test_malformed_input_is_refused_with_the_reason(
    serve: Open, path: str, body: Any, reason: str
) -> None:
    async with serve() as client:
        status, answer = await said(client, path, body)
        assert status == 400 and reason in answer["error"]


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        (
            "/log",
            {"text": "a", "file_path": "a.py"},
            "file_path is not a field of this request: did you mean filePath?",
        ),
        ("/log", {"text": "a", "Tag": ["x"]}, "Tag is not a field of this request: did you mean"),
        (
            "/augmented-context",
            {"query": "a", "session": 1},
            "session is not a field of this request: there are query, filePath, tags, limit,",
        ),
        (
            "/augmented-context",
            {"filepath": "a.py", "limit": "8", "tags": ["a", 1, ""], "budget": 5},
            "tags[1] is the number 1; it must be a string; "
            'limit is the string "8"; it must be a whole number; '
            "filepath is not a field of this request: did you mean filePath?; "
            "query required; "
            "budget is 5, not between 100 and 1,000,000",
        ),
        ("/log", {"text": 3, "source": " "}, "must be a string; source is empty"),
        ("/log", {"text": "a", "root": ["AKIAIOSFODNN7EXAMPLE"]}, "root is a list; it must"),
        ("/log", b'{"text": "a", "limit": ' + b"9" * 5_000 + b"}", "of over 4,300 digits"),
    ],
)
async def test_all_faults_of_a_body_are_told_at_once(
    serve: Open, path: str, body: Any, error: str
) -> None:
    async with serve() as client:
        status, answer = await said(client, path, body)
        assert status == 400 and error in answer["error"]


@pytest.mark.parametrize(
    ("body", "first", "more"),
    [
        (b'"query":"x",' + b",".join(b'"%x":1' % one for one in range(100_000)), "0 is", 99_980),
        (b'"query":"x","tags":[' + b",".join([b"1"] * 400_000) + b"]", "tags[0] is", 399_980),
        (b'"query":"x","tags":[' + b",".join([b'""'] * 400_000) + b"]", "tags has 400000", 0),
    ],
)
async def test_of_many_faults_the_first_are_told(
    serve: Open, body: bytes, first: str, more: int
) -> None:
    """To tell each of 300,000 took 7 s and 1.5 GB, and nobody else was answered meanwhile."""
    async with serve() as client:
        began = time.process_time()
        status, answer = await said(client, "/augmented-context", b"{" + body + b"}")
        assert time.process_time() - began < 2.5
    assert status == 400 and answer["error"].startswith(first)
    assert len(answer["error"]) < 10_000
    assert not more or answer["error"].endswith(f"; and {more:,} more")


async def test_what_a_refusal_repeats_is_short(serve: Open) -> None:
    async with serve() as client:
        question = b'{"query": "a", "limit": 1e300}'
        _, answer = await said(client, "/augmented-context", question)
        assert answer["error"] == "limit is the number 1e+300; it must be a whole number"
        question = b'{"query": "a", "budget": ' + b"9" * 300 + b"}"
        _, answer = await said(client, "/augmented-context", question)
        assert len(answer["error"]) < 120
        gone = await client.delete(f"/log/{'a' * 5_000}")
        assert gone.status_code == 400 and len(gone.text) < 120


async def test_a_refusal_tells_no_secret_again(serve: Open) -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    async with serve() as client:
        for body in ({"query": "a", "limit": key}, {"query": "a", key: 1}):
            _, answer = await said(client, "/augmented-context", body)
            assert "IOSFODNN7" not in answer["error"] and "redacted" in answer["error"]


async def test_an_item_that_was_answered_may_be_logged_again(serve: Open) -> None:
    """The guide's own type of what is logged has ``id`` and ``timestamp``."""
    async with serve() as client:
        item = {**LOG, "id": "abc123", "timestamp": 1738872000000}
        status, answer = await said(client, "/log", item)
        assert status == 200 and answer["stored"]["id"] != "abc123"
        assert [one.partition(" ")[0] for one in answer["warnings"]] == ["id", "timestamp"]


async def test_numbers_and_nulls_are_what_javascript_means(serve: Open) -> None:
    async with serve() as client:
        await said(client, "/log", {**LOG, "filePath": None, "tags": None, "source": None})
        question = {"query": "parser", "limit": 8.0, "filePath": None}
        status, answer = await said(client, "/augmented-context", question)
        assert status == 200 and len(answer["context"]) == 1


async def test_a_body_without_end_is_cut_off(serve: Open) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 1_048_576
            await asyncio.sleep(0)

    async with serve() as client:
        answer = await client.post("/log", content=endless())
        assert answer.status_code == 413 and "4,194,304" in answer.json()["error"]


async def test_who_has_no_token_gets_nothing_but_health(serve: Open) -> None:
    async with serve(token="secret") as client:
        status, answer = await said(client, "/log", LOG)
        assert (status, answer["code"]) == (401, "token_required")
        assert "has no token" in answer["error"] and "Authorization: Bearer" in answer["error"]
        status, answer = await said(client, "/log", LOG, Authorization="Bearer other")
        assert status == 401 and "none of this server's" in answer["error"]
        assert "other" not in answer["error"]
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/healthz")).status_code == 200
        status, _ = await said(client, "/log", LOG, Authorization="Bearer secret")
        assert status == 200


async def test_a_token_of_a_project_opens_that_one_alone(serve: Open, tmp_path: Path) -> None:
    shop, site = tmp_path / "shop", tmp_path / "site"
    for folder in (shop, site):
        folder.mkdir()
    file = tmp_path / "tokens"
    file.write_text(f"# who sees what\none {shop}\ntwo {site}\n")
    async with serve(projects_of([], file), token="all") as client:
        one, two = {"Authorization": "Bearer one"}, {"Authorization": "Bearer two"}
        await said(client, "/log", {"text": "parser of the shop"}, **one)
        _, answer = await said(client, "/augmented-context", {"query": "parser"}, **two)
        assert answer["context"] == []
        asked = {"query": "parser", "root": str(shop)}
        status, answer = await said(client, "/augmented-context", asked, **two)
        assert status == 403 and str(shop) in answer["error"]
        assert "name another" in answer["error"] and "--root DIR" in answer["hint"]
        assert str(site) not in str(answer)
        long = {"query": "parser", "root": "/nowhere/" + "x" * 100_000}
        _, answer = await said(client, "/augmented-context", long, **two)
        assert len(answer["error"]) < 400
        status, answer = await said(client, "/augmented-context", asked, **one)
        assert status == 200 and len(answer["context"]) == 1
        # Who has the service's own token says which is meant.
        service = {"Authorization": "Bearer all"}
        status, answer = await said(client, "/augmented-context", {"query": "parser"}, **service)
        assert status == 400 and answer["error"].startswith("root required")
        _, answer = await said(client, "/augmented-context", asked, **service)
        assert len(answer["context"]) == 1
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        for root in (
            str(tmp_path),
            "~nobody/x",
            "\0",
            str(tmp_path / "loop"),
            f"{shop}/../site/..",
        ):
            status, _ = await said(client, "/log", {**LOG, "root": root}, **service)
            assert status == 403, root


async def test_other_addresses_are_refused(serve: Open) -> None:
    limits = AccessLimits(networks_of("10.0.0.0/8, 192.168.1.7"))
    for address, status in (("10.1.2.3", 200), ("::ffff:192.168.1.7", 200), ("192.168.1.8", 403)):
        async with serve(limits=limits, address=address) as client:
            refused, answer = await said(client, "/log", LOG)
            assert refused == status
            assert status == 200 or (
                f"its address {address} is none of those" in answer["error"]
                and "DCF_RETRIEVAL_ALLOW" in answer["error"]
            )
            assert (await client.get("/healthz")).status_code == 200


async def test_who_asks_too_often_is_told_when_to_come_again(serve: Open) -> None:
    async with serve(limits=AccessLimits(rate=0.25)) as client:
        assert (await said(client, "/log", LOG))[0] == 200
        refused = await client.post("/log", json=LOG)
        assert refused.status_code == 429 and 1 <= int(refused.headers["Retry-After"]) <= 4
        error, seconds = refused.json()["error"], refused.headers["Retry-After"]
        assert "more than 0.25 times a second" in error and f"again in {seconds} s" in error
        assert "DCF_RETRIEVAL_RATE" in error


async def test_requests_are_counted_and_described(serve: Open) -> None:
    async with serve() as client:
        await said(client, "/log", LOG)
        await said(client, "/log", {})
        assert (await client.get("/nothing")).status_code == 404
        assert (await client.get("/log")).status_code == 405
        text = (await client.get("/metrics")).text
        assert 'dcf_retrieval_requests_total{route="/log",status="200"} 1\n' in text
        assert 'dcf_retrieval_requests_total{route="/log",status="400"} 1\n' in text
        assert 'dcf_retrieval_requests_total{route="other",status="404"} 1\n' in text
        assert 'dcf_retrieval_seconds_bucket{route="/log",le="+Inf"} 3\n' in text
        spec = (await client.get("/openapi.json")).json()
        assert {"/log", "/log/{id}", "/augmented-context"} <= spec["paths"].keys()
        body = spec["paths"]["/log"]["post"]["requestBody"]["content"]["application/json"]
        assert body["schema"]["properties"].keys() == {*LOG, "root", "id", "timestamp"}
        assert body["example"] == LOG
        assert "/augmented-context" in (await client.get("/docs")).text
