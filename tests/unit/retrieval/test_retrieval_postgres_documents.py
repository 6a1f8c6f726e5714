"""What documents in PostgreSQL promise besides: older tables, meanings, and servers that die."""

from __future__ import annotations

import asyncio
import signal

import pytest
from memory_world import Numbered, Ticking
from postgres_world import PostgresServer
from unit.retrieval.test_retrieval_kept_documents import SHOP, SITE, TEA, found, keep, read
from unit.retrieval.test_retrieval_postgres import rows_of

from dcf.memory import SYSTEM, Document, random_id
from dcf.retrieval import (
    NewItem,
    PostgresDocuments,
    PostgresItems,
    StoreUnreachable,
)
from dcf.search import embedder_named


async def test_tables_of_before_documents_get_theirs_and_keep_their_items(database: str) -> None:
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        await items.remember(SHOP, NewItem("parser"))
    # As the first version left them.
    await rows_of(database, "DROP TABLE dcf_document_pieces, dcf_documents")
    await rows_of(database, "UPDATE dcf_items_version SET version = 1")
    async with PostgresDocuments.open(database, Ticking(), Numbered()) as documents:
        await keep(documents, "tea.pdf", TEA)
        assert len(await found(documents, "tea")) == 3
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        assert len(await items.recall(SHOP, "parser")) == 1
    (row,) = await rows_of(database, "SELECT * FROM dcf_items_version")
    assert row["version"] == 2


async def test_meanings_find_what_no_word_says(database: str) -> None:
    async with PostgresDocuments.open(database, Ticking(), random_id) as documents:
        kept = await keep(documents, "a.md", read("eagles, owls and sparrows fly", "sockets close"))
        await keep(documents, "a.md", read("another eagle"), SITE)
        assert await found(documents, "birds") == []
    embedder = embedder_named("wordllama")
    async with PostgresDocuments.open(database, Ticking(), random_id, embedder) as documents:
        # Those of before have no meaning yet: what is asked first gives it to them.
        first, *_ = await documents.find(SHOP, "birds")
        assert first.piece.number == 1 and first.why.startswith("meaning 0.")
        await documents.catch_up()
        counted = "SELECT count(*) FROM dcf_document_vectors"
        assert (await rows_of(database, counted))[0]["count"] == 3
        await documents.remove(kept.id, by=SYSTEM)
        assert (await rows_of(database, counted))[0]["count"] == 1


async def test_what_was_kept_survives_a_kill_of_the_server(
    database: str, postgres_server: PostgresServer
) -> None:
    """Although the server does not wait for its disk by itself."""
    acknowledged: list[Document] = []

    async def keep_some(name: str) -> None:
        number = 0
        while True:
            number += 1
            said = read(*[f"round {number}"] * 30)
            acknowledged.append(await keep(documents, f"{name} {number}", said))

    url = f"{database}&synchronous_commit=off"
    async with PostgresDocuments.open(url, Ticking(), random_id) as documents:
        keepers = [asyncio.create_task(keep_some(name)) for name in ("a", "b", "c")]
        while len(acknowledged) < 20:
            await asyncio.sleep(0.001)
        postgres_server.stop(signal.SIGKILL)
        told = await asyncio.gather(*keepers, return_exceptions=True)
        assert {type(one) for one in told} == {StoreUnreachable}
        with pytest.raises(StoreUnreachable):
            await documents.list(SHOP)
        postgres_server.start()
        listed = await documents.list(SHOP, limit=1_000)
        assert set(listed) >= set(acknowledged) and len(listed) <= len(acknowledged) + 3
        for one in listed:
            assert len(await documents.pieces(one)) == one.pieces == 30
