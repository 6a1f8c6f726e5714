"""`dcf retrieval`: three ways to work with it against the served process, and its commands."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from dcf_user import Dcf, until
from postgres_world import PostgresServer

from dcf.memory import random_id
from dcf.retrieval import FileItems, Item

LOADER = """export class JsonDataLoader {
  constructor(private parser: any) {}

  load(stream: any): void {
    this.parser.on("data", (chunk: any) => stream.push(chunk));
  }
}
"""


class Service:
    """A served project, and what a client asks of it."""

    def __init__(self, dcf: Dcf) -> None:
        self.dcf = dcf
        self.root = dcf.folder / "shop"
        (self.root / "data_loader").mkdir(parents=True)
        (self.root / "data_loader" / "json_data_loader.ts").write_text(LOADER)
        self.start()

    def start(self, *more: str) -> None:
        self.child = self.dcf.start("retrieval", "serve", "--root", self.root, *more)
        assert self.child.stdout is not None
        line = json.loads(until(self.child.stdout.readline, "it is ready"))
        assert (line["event"], line["roots"]) == ("ready", [str(self.root.resolve())])
        self.url, self.pid = line["url"], line["pid"]

    def log(self, text: str, *tags: str, **more: str) -> dict[str, Any]:
        answer = httpx2.post(f"{self.url}/log", json={"text": text, "tags": [*tags], **more})
        assert answer.status_code == 200, answer.text
        stored: dict[str, Any] = answer.json()["stored"]
        return stored

    def ask(self, query: str, **more: Any) -> list[dict[str, Any]]:
        body = {"query": query, **more}
        answer = httpx2.post(f"{self.url}/augmented-context", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        context: list[dict[str, Any]] = answer.json()["context"]
        return context


@pytest.fixture
def service(dcf: Dcf) -> Iterator[Service]:
    # Words alone: what they mean is measured elsewhere.
    dcf.env |= {"PORT": "0", "DCF_EMBEDDER": "none", "DCF_LOG": "error"}
    yield Service(dcf)


def test_the_three_workflows_of_augmented_retrieval(service: Service, dcf: Dcf) -> None:
    # A: a test fails, and whoever asks later finds that very failure with the code.
    failure = "Tests failing: TypeError: this.parser.on is not a function"
    service.log(failure, "error", "runlog", source="pytest")
    found = service.ask("parser .on is not a function")
    assert found[0]["text"] == failure and found[0]["source"] == "pytest"
    (code,) = [one for one in found if 'this.parser.on("data"' in one["text"]]
    assert code["type"] == "code_snippet"
    assert (code["filePath"], code["firstLine"]) == ("data_loader/json_data_loader.ts", 4)

    # B: a reviewer's reason comes up with any question about it.
    decision = "Ignore invalid Content-Length by design."
    kept = service.log(decision, "decision", filePath="http/headers.ts")
    assert service.ask("what happens to a Content-Length that is invalid?")[0]["text"] == decision
    assert [
        one["text"]
        for one in service.ask("Content-Length", filePath="http/headers.ts")
        if one["type"] == "memory"
    ] == [decision]

    # C: the logs of an outage are there for the postmortem, in the order of time by timestamp.
    timeline = [
        f"outage: {what}" for what in ("queue is full", "workers restarted", "queue is empty")
    ]
    for line in timeline:
        service.log(line, "incident", "runlog")
    found = [one for one in service.ask("timeline of the outage") if one["type"] == "memory"]
    told = sorted(found, key=lambda one: one["timestamp"])
    assert [one["text"] for one in told if "incident" in one["tags"]] == timeline

    # What was acknowledged survives a kill, and every other command sees it.
    service.child.send_signal(signal.SIGKILL)
    service.child.wait()
    shown = dcf("open", kept["citation"], "--json")
    assert shown.code == 0 and decision in shown.out
    service.start()
    assert service.ask("Content-Length")[0]["id"] == kept["id"]
    service.child.terminate()
    assert service.child.wait(60) == 0


def test_turns_of_threads_answer_in_their_project_alone(service: Service, dcf: Dcf) -> None:
    other = dcf.folder / "other"
    other.mkdir()
    lines = []
    for root in (service.root.resolve(), other.resolve()):
        said = (f"Why does the parser of {root.name} fail?", "Streams have another interface.")
        for number, (role, text) in enumerate(zip(("user", "assistant"), said, strict=True)):
            about = {"type": role, "uuid": f"{root.name}{number}", "sessionId": root.name}
            about |= {"cwd": str(root), "timestamp": f"2026-11-29T10:0{number}:00Z"}
            content = {"message": {"role": role, "content": text}}
            lines.append(json.dumps({**about, **content}) + "\n")
    (dcf.folder / "session.jsonl").write_text("".join(lines))
    assert dcf("memory", "threads", "sync", dcf.folder / "session.jsonl").code == 0

    # Also by the process that answers what the one that listens is asked.
    service.child.send_signal(signal.SIGTERM)
    assert service.child.wait(30) == 0
    service.start("--processes", "2")
    (one,) = [one for one in service.ask("interface of streams") if one["type"] == "thread"]
    assert one["text"].splitlines() == [
        "1 user: Why does the parser of shop fail?",
        "2 assistant: Streams have another interface.",
    ]
    assert (one["role"], one["source"], one["turns"]) == ("assistant", "claude_code", [1, 2])
    shown = dcf("open", one["citation"])
    assert shown.code == 0 and "Streams have another interface." in shown.out
    asked = ("retrieval", "context", "interface of streams", "--budget", "400", "--json")
    found = dcf(*asked, "--root", other).json
    assert found["kinds"]["thread"]["taken"] == 1
    (theirs,) = [one for one in found["context"] if one["type"] == "thread"]
    assert "the parser of other" in theirs["text"] and theirs["citation"] != one["citation"]


def test_several_processes_lose_nothing_when_one_is_killed(service: Service) -> None:
    service.child.terminate()
    assert service.child.wait(60) == 0
    service.start("--processes", "2")
    (answerer,) = children(service.pid)
    logged = []
    for number in range(40):
        logged.append(service.log(f"the zebra of run {number} failed", "error")["id"])
        if number == 20:
            os.kill(answerer, signal.SIGKILL)
    found = service.ask("zebra", limit=100)
    assert sorted(one["id"] for one in found if one["type"] == "memory") == sorted(logged)
    assert service.ask("push chunks to the stream")[0]["symbol"] == "JsonDataLoader.load"
    refused = httpx2.post(f"{service.url}/augmented-context", json={"query": " "})
    assert (refused.status_code, refused.json()) == (400, {"error": "query required"})
    counted = httpx2.get(f"{service.url}/metrics").text
    assert 'requests_total{route="/log",status="200"} 40' in counted
    assert 'requests_total{route="/augmented-context",status="200"} 2' in counted
    (other,) = children(service.pid)
    assert other != answerer
    # Nobody asks it any more, however the service ended.
    os.kill(service.pid, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{other}").exists(), "the other process ended")


def children(pid: int) -> list[int]:
    """The processes that ``pid`` started, and that live."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_the_commands_log_and_find(dcf: Dcf) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none"}
    (dcf.folder / ".git").mkdir()
    (dcf.folder / "pay.py").write_text("def charge_card(order):\n    return order.total\n")
    logged = dcf(
        "retrieval", "log", "the card was refused: token=hunter22hunter", "--tag", "error", "--json"
    )
    assert logged.code == 0 and "hunter22" not in logged.out
    assert logged.json["stored"]["tags"] == ["error"]
    asked = dcf("retrieval", "context", "who charges a refused card?", "--explain", "--json").json
    kinds = [one["type"] for one in asked["context"]]
    assert kinds == ["memory", "code_snippet"] and asked["left_out"] == []
    found = dcf("retrieval", "code", "charge the card", "--json").json
    assert [(hit["path"], hit["symbol"]) for hit in found["hits"]] == [("pay.py", "charge_card")]
    trace = 'File "/srv/pay.py", line 2, in charge_card'
    assert "the trace names pay.py:2" in dcf("retrieval", "code", trace).out


def test_a_budget_cuts_the_best_answer_and_explains_its_shares(dcf: Dcf) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none"}
    (dcf.folder / ".git").mkdir()
    lines = [f"step {number}: compiled" for number in range(400)]
    lines[200] = "the certificate of kafka was revoked"
    assert dcf("retrieval", "log", "\n".join(lines)).code == 0
    asked = ("retrieval", "context", "kafka certificate revoked?", "--budget", "100")
    (told,) = dcf(*asked, "--json").json["context"]
    assert lines[200] in told["text"] and told["tokens"] <= 100 < told["whole_tokens"]
    assert told["relevance"] == 1.0
    shown = dcf(*asked, "--explain").out
    assert f"cut: the whole costs {told['whole_tokens']:,} tokens" in shown
    assert "ceiling: beyond it a kind gets only what the others leave" in shown
    nothing = dcf("retrieval", "context", "moss in spring", "--budget", "100")
    assert nothing.code == 0 and "0 of 100 tokens" in nothing.out


CHARGE = """class Till:
    def charge_card(self, order):
        if not order.total:
            return 0

        return order.total
"""


def test_code_is_shown_in_lines_with_its_address_and_its_cost(dcf: Dcf) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none"}
    (dcf.folder / ".git").mkdir()
    (dcf.folder / "pay.py").write_text(CHARGE)
    (dcf.folder / "tea.py").write_text("def brew():\n" + "    charge = 'card'\n" * 30)
    asked = ("retrieval", "code", "charge the card")
    hits = dcf(*asked, "--json").json["hits"]
    (hit,) = (one for one in hits if one["path"] == "pay.py")
    assert hit["citation"] == "dcf://code/pay.py/line/2-6"
    shown = dcf(*asked).out
    assert f"{hit['tokens']:,} tokens" in shown and hit["citation"] in shown
    lines = "  def charge_card(self, order):\n      if not order.total:\n          return 0\n"
    assert lines in shown and lines in dcf("retrieval", "context", "charge the card").out
    # A function of 31 lines.
    assert shown.count("      charge = 'card'\n") == 11 and "… 19 more lines" in shown


@pytest.mark.parametrize("budget", [(), ("--budget", "300")])
def test_each_text_is_explained_with_its_cost(dcf: Dcf, budget: tuple[str, ...]) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none"}
    (dcf.folder / ".git").mkdir()
    for number in range(2):
        dcf("retrieval", "log", f"Kafka was late on day {number}.")
    asked = ("retrieval", "context", "was kafka late?", *budget)
    costs = [one["tokens"] for one in dcf(*asked, "--json").json["context"]]
    answer = dcf(*asked, "--limit", "1", "--explain", "--json").json
    assert [one["tokens"] for one in (*answer["context"], *answer["left_out"])] == costs
    told, left_out = dcf(*asked, "--limit", "1", "--explain").out.split("left out: ")
    assert f"  {costs[0]} tokens  " in told and f"  {costs[1]} tokens  " in left_out


@pytest.mark.parametrize("budget", [(), ("--budget", "300")])
def test_that_nothing_was_found_is_said(dcf: Dcf, budget: tuple[str, ...]) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none"}
    (dcf.folder / ".git").mkdir()
    asked = dcf("retrieval", "context", "xyzzy quux", *budget)
    assert asked.code == 0 and f"Nothing was found in {dcf.folder.resolve()}." in asked.out


def test_what_was_logged_moves_to_another_backend(dcf: Dcf, tmp_path: Path) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none", "DCF_RETRIEVAL_ROOTS": str(dcf.folder)}
    logged = dcf("retrieval", "log", "the card was refused", "--root", dcf.folder, "--json")
    items = str((tmp_path / "items").resolve())
    (dcf.folder / "card.md").write_text("# Cards\n\nA card that was refused is asked for again.\n")
    assert dcf("documents", "add", "card.md").code == 0
    moved = dcf("retrieval", "migrate", "sqlite", f"file:{items}", "--json")
    assert moved.code == 0, moved.err
    assert moved.json["switch"] == {"MEM_BACKEND": "file", "MEM_PATH": items}
    (project,) = moved.json["projects"]
    assert (project["project"], project["copied"]) == (str(dcf.folder.resolve()), 1)
    asked = ("retrieval", "context", "refused card", "--root", dcf.folder, "--json")
    before = dcf(*asked).json["context"]
    found = dcf(*asked, env=moved.json["switch"]).json["context"]
    assert {one["type"] for one in found} == {"memory", "document"}
    assert {one["citation"] for one in found} == {one["citation"] for one in before}
    found = [one for one in found if one["type"] == "memory"]
    assert [one["id"] for one in found] == [logged.json["stored"]["id"]]

    # A path of the environment is that of the backend that the environment names.
    again = dcf("retrieval", "migrate", "file", "sqlite", env=moved.json["switch"])
    assert again.code == 0 and f"file:{items} is as it was" in again.out
    assert "MEM_BACKEND=sqlite MEM_PATH=" in again.out

    (file,) = Path(items).rglob("items-*.jsonl")
    file.write_text(file.read_text().replace("refused", "charged"))
    other = dcf("retrieval", "migrate", "sqlite", f"file:{items}")
    assert other.code == 1 and "1 entry is not copied" in other.err
    assert f"{found[0]['id']} has another content there" in other.err


def test_what_stays_behind_in_a_memory_is_said(dcf: Dcf, tmp_path: Path) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none", "DCF_RETRIEVAL_ROOTS": str(dcf.folder)}
    assert dcf("retrieval", "log", "the card was refused", "--root", dcf.folder).code == 0
    kept = ("ProviderBusy: HTTP 503 from payments", "--resolution", "Wait.")
    assert dcf("retrieval", "playbooks", "add", *kept, "--root", dcf.folder).code == 0
    other = tmp_path / "other.db"
    moved = dcf("retrieval", "migrate", "sqlite", f"sqlite:{other}")
    assert moved.code == 0
    assert "1 playbook, the observations and the threads of the memory " in moved.out
    # In files there are items and documents alone: the same memory is asked for all else.
    moved = dcf("retrieval", "migrate", "sqlite", f"file:{tmp_path / 'items'}", "--json")
    assert (moved.code, moved.json["staying"]) == (0, None)
    moved = dcf("retrieval", "migrate", f"sqlite:{other}", f"file:{tmp_path / 'items'}", "--json")
    assert moved.json["staying"] == {"memory": str(other.resolve()), "playbooks": 0}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_move_that_is_interrupted_says_how_to_go_on_and_does(
    dcf: Dcf, tmp_path: Path, number: signal.Signals
) -> None:
    dcf.env["DCF_EMBEDDER"] = "none"
    folder, file = tmp_path / "items", tmp_path / "new.db"
    logged = [Item(f"passage-{one}", f"Order {one}.", (), None, None, one) for one in range(8_000)]
    asyncio.run(FileItems(folder, lambda: 1, random_id).keep(str(dcf.folder), logged))
    move = ("retrieval", "migrate", f"file:{folder}", f"sqlite:{file}", "--json")
    child = dcf.start(*move)
    until(lambda: _passages_in(file), "some are copied")
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    there = _passages_in(file)
    assert 0 < there < len(logged)
    if number != signal.SIGKILL:
        assert (child.returncode, json.loads(out)["status"]) == (130, "interrupted")
        assert f"file:{folder} is as it was" in err
        assert "run the same command again: it goes on where this one ended" in err
    (project,) = dcf(*move).json["projects"]
    assert (project["there"], project["copied"]) == (there, len(logged) - there)


def _passages_in(file: Path) -> int:
    """How many the memory has; 0 before it is made."""
    if not file.exists():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        try:
            (count,) = connection.execute("SELECT count(*) FROM passages").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(count)


def test_paths_are_from_here_and_an_item_is_deleted(dcf: Dcf) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none"}
    web = dcf.folder / "web"
    for folder in (web, dcf.folder / "cards" / "skills_src"):
        folder.mkdir(parents=True)
    (dcf.folder / "cards" / "skills_src" / "registry.yaml").write_text("servers: {}\n")
    (dcf.folder / ".git").mkdir()
    dcf.folder = web
    logged = dcf("retrieval", "log", "the cart is slow", "--file", "cart.ts", "--json").json[
        "stored"
    ]
    assert logged["file_path"] == "web/cart.ts"
    dcf.folder = web.parent
    asked = ("retrieval", "context", "slow cart", "--file", "web/cart.ts", "--json")
    assert [one["id"] for one in dcf(*asked).json["context"]] == [logged["id"]]
    assert dcf("retrieval", "delete", logged["citation"]).code == 0
    assert dcf(*asked).json["context"] == []
    again = dcf("retrieval", "delete", logged["id"])
    assert again.code == 2 and "There is no logged item" in again.err
    # A project of `dcf init` inside of what git keeps is one of its own, as for its workers.
    dcf("retrieval", "log", "cards are late", "--root", "cards")
    dcf.folder = web.parent / "cards"
    assert len(dcf("retrieval", "context", "late cards", "--json").json["context"]) == 1


def test_what_is_cited_is_opened_where_the_backend_keeps_it(
    dcf: Dcf, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    text = "\n".join(f"Line {line}: the gateway refuses cards." for line in range(300))
    places = {
        "file": {"MEM_BACKEND": "file"},
        "postgres": {"MEM_BACKEND": "postgres", "DATABASE_URL": postgres_server.empty_schema()},
        "sqlite": {"MEM_PATH": str(tmp_path / "other.db")},
    }
    where = {
        "file": f"file:{(dcf.folder / 'home' / 'items').resolve()}",
        "postgres": "postgres:",
        "sqlite": f"the memory {(tmp_path / 'other.db').resolve()}",
    }
    root = ("--root", dcf.folder)
    for name, env in places.items():
        env |= {"DCF_EMBEDDER": "none"}
        logged = dcf("retrieval", "log", text, "--tag", "error", *root, "--json", env=env)
        citation = logged.json["stored"]["citation"]
        found = dcf("retrieval", "context", "gateway cards", *root, "--json", env=env)
        assert [one["citation"] for one in found.json["context"]] == [citation]
        shown = dcf("open", citation, env=env)
        assert (shown.code, text in shown.out) == (0, True), shown
        audit = dcf("retrieval", "audit", *root, "--json", env=env).json["accesses"]
        assert audit[0]["ids"] == [citation]
        missing = dcf("open", "dcf://memory/passage-9", env=env)
        assert missing.code == 2 and "no logged item" in missing.err
        assert where[name] in missing.err


@pytest.mark.parametrize("backend", ["sqlite", "file"])
def test_maintain_says_how_many_went(dcf: Dcf, tmp_path: Path, backend: str) -> None:
    dcf.env |= {"DCF_EMBEDDER": "none", "DCF_RETRIEVAL_ROOTS": str(dcf.folder)}
    folder, project = tmp_path / "old", str(dcf.folder.resolve())
    tags = {"a": ("runlog",), "b": ("runlog", "law"), "c": ("law",), "d": ()}
    of_2023 = [
        Item(name, f"run {name}", some, None, None, 1_700_000_000_000)
        for name, some in tags.items()
    ]
    asyncio.run(FileItems(folder, lambda: 0, random_id).keep(project, of_2023))
    assert dcf("retrieval", "migrate", f"file:{folder}", backend).code == 0
    dcf.env |= {"MEM_BACKEND": backend}

    kept = dcf("retrieval", "maintain", "--json")
    assert (kept.code, kept.json["swept"]) == (0, 0)
    done = dcf("retrieval", "maintain", "--json", env={"DCF_RETRIEVAL_TTL": "runlog=30d,law=999w"})
    assert done.json["swept"] == 2
    done = dcf("retrieval", "maintain", "--json", env={"DCF_RETRIEVAL_TTL": "*=52w,law=999w"})
    assert done.json["swept"] == 1
    found = dcf("retrieval", "context", "run", "--root", dcf.folder, "--json").json["context"]
    assert [one["text"] for one in found if one["type"] == "memory"] == ["run c"]


@pytest.mark.parametrize(
    ("source", "target", "code", "said"),
    [
        ("memory", "file", 2, "memory ends with its service"),
        ("sqlite", "files:a", 2, "FROM, TO: error: 'files' is no backend"),
        ("sqlite:a", "sqlite:./a", 2, "both are sqlite:"),
        ("sqlite", "postgres", 2, "is not set"),
        ("sqlite", "postgres:mysql://a", 2, "does not begin with postgresql://"),
        ("sqlite:nowhere", "file:items", 1, "there is no memory at"),
        ("file:nowhere", "sqlite", 1, "there is no folder"),
        ("postgresql://me:geheim@127.0.0.1:1/items", "sqlite", 3, "cannot be reached"),
    ],
)
def test_what_cannot_be_moved_is_refused_with_the_reason(
    dcf: Dcf, source: str, target: str, code: int, said: str
) -> None:
    done = dcf("retrieval", "migrate", source, target, env={"DCF_EMBEDDER": "none"})
    assert done.code == code and said in done.err
    assert "geheim" not in done.out + done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("env", "arguments", "said"),
    [
        ({}, ["serve", "--host", "0.0.0.0"], "there is no token"),
        ({"DCF_TOKEN": "short"}, ["serve", "--host", "0.0.0.0"], "fewer than 16"),
        (
            {"DCF_RETRIEVAL_TOKENS": "tokens", "DCF_TOKEN": "b" * 8 + "c" * 8},
            ["serve", "--host", "0.0.0.0"],
            "fewer than 16",
        ),
        ({"DCF_TOKEN": "b" * 16 + "c"}, ["serve", "--host", "0.0.0.0"], "none of them may ask"),
        ({"MEM_BACKEND": "files"}, ["serve"], "'files' is no backend"),
        ({"MEM_BACKEND": "postgres"}, ["serve"], "is not set"),
        ({"PORT": "x"}, ["serve"], "'x' is no port"),
        ({"DCF_RETRIEVAL_TTL": "runlog"}, ["serve"], "does not say TAG=TIME"),
        ({"DCF_RERANKER": "http://rerank.example.com"}, ["context", "a"], "unencrypted"),
        ({"DCF_BUNDLE_SHARES": "code=9-5"}, ["context", "a"], "code has 9 to 5 percent"),
        ({"DCF_RETRIEVAL_TTL": "*=0d"}, ["serve"], "a whole number above 0"),
        ({"DCF_RETRIEVAL_TTL": "*=1d,*=2d"}, ["maintain"], "* is there twice"),
        ({"MEM_BACKEND": "memory"}, ["maintain"], "this is none"),
        ({"DCF_RETRIEVAL_RATE": "-1"}, ["serve"], "is no rate"),
        ({"DCF_PII": "email,shoe"}, ["serve"], "'shoe' is no rule"),
        ({"DCF_PII_NAMES": "nowhere"}, ["log", "a"], "nowhere cannot be read"),
        ({"DCF_RETRIEVAL_ALLOW": "here"}, ["serve"], "'here' does not appear to be"),
        ({"DCF_RETRIEVAL_TOKENS": "nowhere"}, ["serve"], "No such file"),
        ({}, ["serve", "--root", "nowhere"], "is no folder"),
        ({}, ["log", " "], "text required"),
        ({}, ["context", "a", "--mode", "best"], "not one of ranked, guide"),
        ({"MEM_BACKEND": "memory"}, ["log", "a"], "this is none"),
        ({}, ["serve", "--processes", "no"], "'no' is no number of them"),
        ({"MEM_BACKEND": "memory"}, ["serve", "--processes", "2"], "no other process knows"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    dcf: Dcf, env: dict[str, str], arguments: list[str], said: str
) -> None:
    (dcf.folder / "tokens").write_text(f"short {dcf.folder}\n")
    (dcf.folder / "tokens").chmod(0o640)
    done = dcf("retrieval", *arguments, env={"DCF_EMBEDDER": "none", **env})
    assert done.code in (1, 2) and said in done.err
    if env.get("DCF_RETRIEVAL_TOKENS") == "tokens":
        assert f"DCF_RETRIEVAL_TOKENS, the line of {dcf.folder}" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("part", ["GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ", "GET /"])
def test_a_head_without_end_is_refused(service: Service, part: str) -> None:
    # RFC 9112, 3: a server that receives more than it parses answers with an error.
    port = httpx2.URL(service.url).port
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        with suppress(ConnectionError):
            client.sendall(part.encode() + b"a" * 400_000)
        answer = b""
        with suppress(ConnectionError):
            answer = client.recv(64)
        assert answer.startswith(b"HTTP/1.1 400 ") or not answer
    # Nor is a body a head, whatever comes of it at once.
    assert service.log("a" * 400_000)["id"]


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            {"MEM_BACKEND": "postgres", "DATABASE_URL": "postgresql://me:geheim@127.0.0.1:1/items"},
            "127.0.0.1:1/items cannot be reached",
        ),
        ({"MEM_BACKEND": "file", "MEM_PATH": "/dev/null"}, "cannot be kept in the folder"),
    ],
)
def test_a_store_that_is_not_there_is_named(dcf: Dcf, env: dict[str, str], said: str) -> None:
    done = dcf("retrieval", "log", "a", env={"DCF_EMBEDDER": "none", **env})
    assert done.code == 3 and said in done.err
    assert "geheim" not in done.out + done.err and "defect" not in done.err


def test_a_service_does_not_start_without_its_database(dcf: Dcf) -> None:
    env = {"MEM_BACKEND": "postgres", "DATABASE_URL": "postgresql://127.0.0.1:1/shop"}
    done = dcf("retrieval", "serve", env={"DCF_EMBEDDER": "none", "PORT": "0", **env})
    assert done.code == 3 and "127.0.0.1:1/shop cannot be reached" in done.err


def test_who_read_and_deleted_what_is_shown_and_items_are_maintained(
    service: Service, dcf: Dcf
) -> None:
    kept = service.log("the parser fails", "error")
    assert service.ask("parser fails")[0]["citation"] == kept["citation"]
    assert httpx2.delete(f"{service.url}/log/{kept['id']}").status_code == 200
    service.child.send_signal(signal.SIGTERM)
    assert service.child.wait(30) == 0
    root = ("--root", service.root)
    told = dcf("retrieval", "audit", *root, "--json").json["accesses"]
    assert {(one["operation"], one["by"], one["client"]) for one in told} == {
        ("read", "no token", "127.0.0.1"),
        ("delete", "no token", "127.0.0.1"),
    }
    (read,) = [one for one in told if one["operation"] == "read"]
    assert kept["citation"] in read["ids"] and "parser" not in json.dumps(read)
    deleted = dcf("retrieval", "audit", *root, "--operation", "delete", "--json").json["accesses"]
    assert [one["ids"] for one in deleted] == [[kept["id"]]]
    assert kept["text"] not in dcf("memory", "search", "parser").out
    again = dcf("retrieval", "log", "a parser of tea", *root, "--json").json["stored"]
    assert "a parser of tea" in dcf("memory", "search", "tea").out
    seen = dcf("retrieval", "audit", *root, "--limit", 1, "--json").json["accesses"]
    assert [(one["operation"], one["ids"]) for one in seen] == [("read", [again["citation"]])]
    done = dcf("retrieval", "maintain", *root)
    assert (done.code, "items are compacted" in done.out) == (0, True)
    assert dcf("retrieval", "audit", "--since", "soon").code == 2
    wrong = dcf("retrieval", "maintain", *root, env={"DCF_RETRIEVAL_NIGHT": "25"})
    assert (wrong.code, "an hour from 0 to 23" in wrong.err) == (2, True)
