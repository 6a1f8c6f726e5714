"""The same question to each backend: the same reasons, costs and cuts, whatever keeps the texts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from memory_world import Numbered, Ticking
from postgres_world import PostgresServer

from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import SYSTEM, FileState, Memory, Source
from dcf.retrieval import (
    Backend,
    BackendSetting,
    ContextQuestion,
    NewItem,
    Retrieval,
    Scored,
    Stores,
)
from dcf.search import embedder_named

SHOP = "/work/shop"
LONG = "\n".join(
    "The gateway refuses a card that has expired." if line == 300 else f"Line {line}: all is well."
    for line in range(600)
)
LOGGED = (
    NewItem(LONG, ("runlog",), "CI"),
    NewItem("An expired card is refused by the gateway: ask for another card.", ("decision",)),
    NewItem("The clock is slow.", ("error",), "pytest", "clock.py"),
    NewItem("Lunch is at noon."),
)
READ = ReadDocument(
    "Cards",
    "markdown",
    (
        ReadPiece(
            "When a card has expired, the gateway refuses it, and we ask again.", ("Cards",), 1, 3
        ),
        ReadPiece(f"{LONG}\nThen call the bank.", ("Cards", "Log"), 5, 606),
        ReadPiece("The menu has soup.", ("Menu",), 610, 611),
    ),
)
QUERY = "why does the gateway refuse an expired card?"


@asynccontextmanager
async def _opened(
    backend: Backend, folder: Path, server: PostgresServer, embedder: str
) -> AsyncIterator[Stores]:
    clock, new_id = Ticking(), Numbered()
    if backend == "sqlite":
        source = Source(folder / "m.db")
        async with Memory.open(source, clock=clock, new_id=new_id, embedder=embedder) as memory:
            yield Stores.of_memory(memory, SYSTEM)
        return
    database = server.empty_schema() if backend == "postgres" else ""
    setting = BackendSetting(backend, folder / "kept", database)
    model = None if embedder == "none" else embedder_named(embedder)
    async with Stores.open(setting, folder, clock, new_id, embedder=model) as stores:
        yield stores


async def _answers(
    backend: Backend, folder: Path, server: PostgresServer, embedder: str
) -> dict[str, list[tuple[Any, ...]]]:
    """What each question is answered with, the best first."""
    folder.mkdir()
    async with _opened(backend, folder, server, embedder) as stores:
        for new in LOGGED:
            await stores.items.remember(SHOP, new)
        state = FileState(1, "stamp", "digest")
        await stores.documents.keep(SHOP, "cards.md", state, READ, by=SYSTEM)
        retrieval = Retrieval(stores.items, None, Ticking(), documents=stores.documents)
        asked = {
            "words": ContextQuestion(SHOP, QUERY),
            "budget": ContextQuestion(SHOP, QUERY, budget=300, limit=100),
            "one file": ContextQuestion(SHOP, "slow clock", "clock.py"),
            "a tag": ContextQuestion(SHOP, "a decision"),
            "no word": ContextQuestion(SHOP, "?!"),
        }
        return {
            name: [_told(one) for one in (await retrieval.context(question)).found]
            for name, question in asked.items()
        }


def _told(scored: Scored) -> tuple[Any, ...]:
    one = scored.candidate
    return (one.kind, one.text, scored.why, scored.tokens, one.about.get("whole_tokens"))


@pytest.mark.parametrize("backend", ["memory", "file", "postgres"])
async def test_each_backend_gives_the_reasons_the_costs_and_the_cuts_of_sqlite(
    backend: Backend, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    wanted = await _answers("sqlite", tmp_path / "sqlite", postgres_server, "none")
    found = await _answers(backend, tmp_path / backend, postgres_server, "none")
    for name in wanted:
        assert found[name] == wanted[name]
    # The long ones are cut around what was asked.
    cuts = [one for one in wanted["budget"] if one[-1] is not None]
    assert cuts and all("refuses a card that has expired" in text for _, text, *_ in cuts)
    best = {kind: why[0] for kind, _, why, *_ in reversed(wanted["words"])}
    assert best == {"memory": "1. of memory: words", "document": "1. of document: words"}
    assert [text for _, text, *_ in wanted["a tag"]] == [LOGGED[1].text]
    assert wanted["no word"][0][2][0] == "1. of memory: newest"


async def test_where_meanings_are_compared_their_figures_are_the_same(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    sqlite = await _answers("sqlite", tmp_path / "sqlite", postgres_server, "wordllama")
    postgres = await _answers("postgres", tmp_path / "postgres", postgres_server, "wordllama")
    for name in sqlite:
        assert sqlite[name] == postgres[name]
