"""Requests that nobody should send to the served retrieval: each has an answer of its class.

Which statuses a class may have is said by docs/how-to/retrieval-service.md, by
RFC 9110 (methods, framing) and by RFC 8259 (8.1: JSON between systems is UTF-8).
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import pytest
from campaigns import campaign
from integration.tools.conftest import serving_app
from memory_world import Numbered, Ticking

from dcf.memory import SYSTEM, Memory, Source
from dcf.retrieval import CodeRetrievers, NewItem, Projects, Retrieval, SqliteDocuments, SqliteItems
from dcf.retrieval.serving import AccessLimits, create_app
from dcf.tools.serving import Guard

REQUESTS = 310
CANARY = "kestrel4711"
"""Stands outside of the folder that is asked about: in a file, and in another project."""
QUERY = f"{CANARY} tea kettle"
REFUSED = {400}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it goes over the wire, and the statuses that its answer may have. ``whole``: it
    is HTTP, so that the service answers it itself, and not the server below."""

    kind: str
    statuses: set[int]
    body: bytes = b""
    method: str = "POST"
    path: str = "/augmented-context"
    headers: dict[str, str] = field(default_factory=dict)
    whole: bool = True

    def bytes_of(self) -> bytes:
        headers = {
            "Host": "localhost",
            "Authorization": "Bearer one-of-the-shop",
            "Content-Type": "application/json",
            "Content-Length": str(len(self.body)),
            "Connection": "close",
        }
        head = f"{self.method} {self.path} HTTP/1.1\r\n"
        lines = (
            f"{name}: {value}\r\n" for name, value in (headers | self.headers).items() if value
        )
        return (head + "".join(lines) + "\r\n").encode("latin-1") + self.body


Make: TypeAlias = "Callable[[random.Random, Path], Asked]"


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def good(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """A request that is answered 200."""
    if rng.random() < 0.5:
        return "/log", {"text": f"the kettle boils {rng.random()}", "tags": ["error"]}
    return "/augmented-context", {"query": QUERY, "limit": rng.randint(1, 100)}


def answered(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    return Asked("answered", {200}, dumped(body), path=path)


def no_json(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    whole = dumped(body)
    broken = rng.choice(
        [
            b"",
            b"{",
            b"\xff",
            b"null",
            b"[]",
            b"3",
            b"{'a': 1}",
            b"\0",
            whole + b"}",
            b"\0" + whole,
            whole[: rng.randint(0, len(whole) - 1)],
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b"9" * 9_999,
        ]
    )
    return Asked("no JSON", REFUSED, broken, path=path)


def wrong_type(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    text = "text" if path == "/log" else "query"
    wrong: list[Any] = [3, 1.5, True, [], {}, ["a"], {"a": "b"}, 10**400]
    place = rng.choice([text, "filePath", "root"])
    return Asked("wrong type", REFUSED, dumped(body | {place: rng.choice(wrong)}), path=path)


def unknown_field(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    name = rng.choice(["file_path", "Query", "more", "", "\0", "x" * 9_999, "__class__", "text "])
    return Asked(
        "unknown field", REFUSED, dumped(body | {name: rng.choice([1, None, {}])}), path=path
    )


def wrong_value(rng: random.Random, _root: Path) -> Asked:
    query: dict[str, Any] = {"query": QUERY}
    bodies: list[Any] = [
        *(query | {"limit": one} for one in (0, -1, 101, 2**63, 10**300, 1.5, 1e300, "8")),
        *(query | {"tags": one} for one in ("fix", [""], [3], ["a\0"], ["a"] * 51, {}, [[]])),
        *(query | {"budget": one} for one in (0, 99, -1, 10**7, 10**300, 100.5, "800", [])),
        *(query | {"mode": one} for one in ("", "best", 1, None, ["ranked"])),
        *({"query": one} for one in ("", " ", "\0", "a\0b", None)),
        {},
        query | {"limit": float("nan")},
        query | {"limit": float("inf")},
    ]
    logs: list[Any] = [
        *({"text": one} for one in ("", " \n", "a\0b", None)),
        *(
            {"text": "a", "tags": one}
            for one in ("a", [1], [""], ["a\0"], ["a"] * 1_000, {"a": "b"})
        ),
        *({"text": "a", "source": one} for one in (" ", "\0", "x" * 100_000)),
        *({"text": "a", "filePath": one} for one in (" ", "a\0", "x" * 100_000)),
    ]
    if rng.random() < 0.5:
        return Asked("wrong value", REFUSED, dumped(rng.choice(bodies)))
    return Asked("wrong value", REFUSED, dumped(rng.choice(logs)), path="/log")


def huge_number(rng: random.Random, _root: Path) -> Asked:
    digits = rng.choice([b"9" * 400, b"9" * 5_000, b"1e400", b"-1e400", b"-" + b"9" * 5_000])
    return Asked("huge number", REFUSED, b'{"query": "a", "limit": ' + digits + b"}")


def surrogate(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    place = rng.choice(["text" if path == "/log" else "query", "filePath", "root"])
    half = json.dumps(body | {place: rng.choice(["\ud800", "a\udfffb", "\udc00\ud800"])})
    raw = json.dumps(body | {place: "\ud800"}, ensure_ascii=False)
    ways = [half.encode(), raw.encode("utf-8", "surrogatepass"), half.encode("utf-16")]
    return Asked("surrogate", REFUSED, rng.choice(ways), path=path)


def encoding(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    text = json.dumps(body | {"tags": ["Teehäuschen"]}, ensure_ascii=False)
    coded = rng.choice(["utf-16", "utf-16-le", "utf-32", "utf-32-be", "latin-1", "utf-7"])
    if coded == "utf-7":
        return Asked("encoding", {200}, text.encode("utf-8-sig"), path=path)
    return Asked("encoding", REFUSED, text.encode(coded), path=path)


def content_type(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    kinds = ["", "text/plain", "application/xml", "a", "\xe4", "application/json; charset=utf-16"]
    headers = {"Content-Type": rng.choice(kinds)}
    return Asked("content type", {200, 415}, dumped(body), path=path, headers=headers)


def content_length(rng: random.Random, _root: Path) -> Asked:
    path, body = good(rng)
    data = dumped(body)
    length = rng.choice(["-1", "x", "1" * 30, "1, 2", "0x10", "", str(len(data) - 1)])
    if length == "" or length.isdecimal():
        # Without a length there is no body (RFC 9112, 6.3); a shorter one cuts it.
        return Asked(
            "content length", REFUSED, data, path=path, headers={"Content-Length": length},
            whole=len(length) < 30,
        )  # fmt: skip
    headers = {"Content-Length": length}
    return Asked("no HTTP", REFUSED, data, path=path, headers=headers, whole=False)


def method(rng: random.Random, _root: Path) -> Asked:
    path = rng.choice(["/log", "/augmented-context", "/log/passage-1"])
    verb = rng.choice(["GET", "PUT", "PATCH", "OPTIONS", "TRACE", "HEAD", "BREW", "get"])
    if verb in ("BREW", "get"):
        # A parser of HTTP may refuse what no registry of methods has.
        return Asked("no HTTP", {400, 405, 501}, path=path, method=verb, whole=False)
    return Asked("method", {405}, path=path, method=verb)


def path(rng: random.Random, _root: Path) -> Asked:
    odd = rng.choice(
        [
            "/",
            "/..",
            "/../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/log/../healthz",
            "/%00",
            "//log",
            "/log%2f",
            "/LOG",
            "/docs/..%2f..%2fetc",
            "/" + "a" * 9_000,
            "/%ff",
            "/%",
            "/static/../../outside.py",
            "/openapi.json%00.html",
            "/.git/config",
            "/src/site.py",
        ]
    )
    return Asked("path", {404}, path=odd, method=rng.choice(["GET", "POST", "DELETE"]))


def deletion(rng: random.Random, root: Path) -> Asked:
    """Of items that this project does not have: the first one is the other project's."""
    item = rng.choice(
        [
            "passage-1",
            "passage-99",
            "..",
            "%2e%2e",
            "%00",
            "%ff",
            "a%00b",
            "x" * 5_000,
            "*",
            "%",
            "9" * 400,
            "passage-" + "9" * 400,
            "passage--1",
            "%F0%9F%AB%96",
            "'",
            "passage-1%20",
        ]
    )
    # No id is longer than 200 characters.
    return Asked(
        "deletion", {404 if len(item) <= 200 else 400}, path=f"/log/{item}", method="DELETE"
    )


def deletion_elsewhere(rng: random.Random, root: Path) -> Asked:
    other = rng.choice([str(root.parent / "site"), "%00", "%ff", "..", "/", "%2e%2e"])
    where = f"/log/passage-1?root={other}"
    return Asked("deletion elsewhere", {403}, path=where, method="DELETE")


def elsewhere(rng: random.Random, root: Path) -> Asked:
    """Folders that are not the project's."""
    where, body = good(rng)
    other = rng.choice(
        [
            str(root.parent),
            str(root.parent / "site"),
            "/",
            "..",
            f"{root}/..",
            f"{root}/../site",
            "\0",
            f"{root}\0",
            "~root",
            "~nobody",
            "~",
            "x" * 100_000,
            f"{root}/src",
            "file:///",
            ".",
            f"{root}/way",
            f"{root}/loop",
        ]
    )
    return Asked("elsewhere", {403}, dumped(body | {"root": other}), path=where)


def outer_file(rng: random.Random, root: Path) -> Asked:
    """Files that are not the project's: there is nothing about them."""
    file = rng.choice(
        [
            str(root.parent / "outside.py"),
            "../outside.py",
            "/etc/passwd",
            "way/outside.py",
            "..",
            "/",
            "../site/site.py",
            "%2e%2e/outside.py",
            "*",
            "'; DROP TABLE files; --",
            "C:\\x",
            "~/.ssh",
        ]
    )
    return Asked("outer file", {200}, dumped({"query": QUERY, "filePath": file}))


def header(rng: random.Random, _root: Path) -> Asked:
    where, body = good(rng)
    size = rng.choice([10, 1_000, 30_000])
    return Asked("header", {200}, dumped(body), path=where, headers={"X-Tea": "é" * size})


def endless_header(rng: random.Random, _root: Path) -> Asked:
    many = {"X-Tea": "x" * rng.choice([100_000, 400_000])}
    return Asked("no HTTP", {0, 400, 431}, headers=many, whole=False)


def no_http(rng: random.Random, _root: Path) -> Asked:
    odd = rng.choice(
        [
            {"Host": ""},
            {"X": "a\r\nHost: localhost"},
            {"X Y": "a"},
            {"Transfer-Encoding": "tea"},
            {"X": "a\0b"},
        ]
    )
    return Asked("no HTTP", {400, 501}, headers=odd, whole=False)


def token(rng: random.Random, _root: Path) -> Asked:
    where, body = good(rng)
    bad = rng.choice(
        [
            "",
            "Bearer",
            "Bearer ",
            "Bearer x",
            "bearer one-of-the-shop",
            "Basic b25l",
            "\xe4" * 9,
            "Bearer one-of-the-shop x",
            "Bearer one-of-the-sho",
            "one-of-the-shop",
            "B" * 20_000,
        ]
    )
    return Asked("token", {401}, dumped(body), path=where, headers={"Authorization": bad})


def stranger(rng: random.Random, _root: Path) -> Asked:
    where, body = good(rng)
    if rng.random() < 0.5:
        origin = rng.choice(["https://tea.example", "null", "x", "http://localhost:1"])
        return Asked("origin", {403}, dumped(body), path=where, headers={"Origin": origin})
    host = rng.choice(["tea.example", "localhost.tea.example", "127.1", "[::1", "\xe4"])
    return Asked("host", {400, 421}, dumped(body), path=where, headers={"Host": host}, whole=False)


def too_large(rng: random.Random, _root: Path) -> Asked:
    where = rng.choice(["/log", "/augmented-context"])
    return Asked("too large", {413}, b" " * (4 * 1024 * 1024 + 1), path=where)


MAKERS: tuple[Make, ...] = (
    *(
        answered,
        no_json,
        wrong_type,
        unknown_field,
        wrong_value,
        huge_number,
        surrogate,
        encoding,
        content_type,
    ),
    *(content_length, method, path, deletion, deletion_elsewhere, elsewhere, outer_file, header),
    *(endless_header, no_http, token, stranger),
)


@dataclass(frozen=True, slots=True)
class Served:
    """The service of two projects, of which the shop is asked about."""

    port: int
    shop: Path

    async def answer(self, asked: Asked, *, ends: bool = False) -> tuple[int, str, bytes]:
        """Status, headers and body; status 0 where there was no answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(asked.bytes_of())
            if ends:
                writer.write_eof()
            async with asyncio.timeout(20):
                said = await reader.read()
        except ConnectionError:
            # It is closed on who sends more than is read.
            said = b""
        finally:
            writer.close()
        head, _, body = said.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else 0, head.decode("latin-1").lower(), body


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    shop, site = tmp_path / "shop", tmp_path / "site"
    for folder in (shop, site):
        (folder / "src").mkdir(parents=True)
    (shop / "src" / "kettle.py").write_text("def boil(kettle):\n    return 'tea'\n")
    code = f"def {CANARY}(kettle):\n    return 'tea'\n"
    (site / "site.py").write_text(code)
    (tmp_path / "outside.py").write_text(code)
    (shop / "way").symlink_to(tmp_path)
    (shop / "loop").symlink_to(shop / "loop")
    clock = Ticking()
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        items = SqliteItems(memory, SYSTEM)
        shelf = CodeRetrievers(tmp_path / "code", None)
        retrieval = Retrieval(items, shelf, clock, documents=SqliteDocuments(memory))
        await retrieval.log(str(site), NewItem(f"{CANARY} tea kettle"))
        roots = {"one-of-the-shop": str(shop), "two-of-the-site": str(site)}
        app = create_app(
            retrieval, Projects(tuple(roots.values()), roots), Guard(token="all"), AccessLimits()
        )
        async with serving_app(app) as url:
            yield Served(urlsplit(url).port or 0, shop)
        await shelf.close()
        assert await memory.check() == ()


def faults(asked: Asked, status: int, head: str, body: bytes) -> list[str]:
    """What is wrong with an answer."""
    found = [] if status in asked.statuses else [f"{status}, not one of {asked.statuses}"]
    text = body.decode("utf-8", "replace")
    if asked.kind not in ("answered", "outer file", "header", "encoding", "content type"):
        found += [f"it says {CANARY}"] if CANARY in text else []
    elif asked.path != "/log" and body:
        said = json.loads(body)
        # The query is repeated; what is found must not have it.
        found += [f"it found {CANARY}"] if CANARY in json.dumps(said.get("context")) else []
    if "Traceback" in text or 'File "' in text:
        found.append("it has a traceback")
    if 400 <= status < 500 and asked.whole and asked.method != "HEAD":
        try:
            error = json.loads(body)["error"]
        except (ValueError, KeyError, TypeError):
            error = None
        if not (isinstance(error, str) and error and "content-type: application/json" in head):
            found.append(f"no JSON with an error: {text[:200]!r}")
    return found


@pytest.mark.timeout(120)
@campaign(33, "tests/integration/retrieval")
async def test_strange_requests_get_the_answer_of_their_class(share: int, served: Served) -> None:
    rng = random.Random(share)
    made = [MAKERS[number % len(MAKERS)](rng, served.shop) for number in range(REQUESTS)]
    made.append(too_large(rng, served.shop))
    rng.shuffle(made)
    wrong = []
    for asked in made:
        answer = await served.answer(asked)
        wrong += [
            f"{asked.kind}: {fault}; {asked.bytes_of()[:300]!r}" for fault in faults(asked, *answer)
        ]
    assert not wrong, "\n".join(dict.fromkeys(wrong))
    # Nothing of the other project is gone, and the service still answers.
    two = {"Authorization": "Bearer two-of-the-site"}
    status, _, body = await served.answer(Asked("", {200}, dumped({"query": QUERY}), headers=two))
    assert (status, json.loads(body)["context"][0]["type"]) == (200, "memory")


async def test_a_request_that_ends_before_its_body_does_is_no_defect(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    cut = Asked("cut", set(), b'{"text": "a', path="/log", headers={"Content-Length": "100"})
    assert (await served.answer(cut, ends=True))[0] in (0, 400)
    counted = Asked("", {200}, method="GET", path="/metrics")
    assert 'status="500"' not in (await served.answer(counted))[2].decode()
    assert "Traceback" not in caplog.text
