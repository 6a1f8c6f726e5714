"""Playbooks answer an error beside what was logged, in their project alone."""

from __future__ import annotations

from pathlib import Path

from memory_world import Numbered, Ticking

from dcf.memory import SYSTEM, Memory, NewPlaybook, Source
from dcf.retrieval import ContextQuestion, NewItem, PlaybookRetriever, Retrieval, SqliteItems
from dcf.retrieval.serving.answers import context_item


async def test_an_error_that_was_seen_before_is_answered_with_what_helped(tmp_path: Path) -> None:
    source, clock = Source(tmp_path / "m.db"), Ticking()
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        for folder, pattern in (
            ("/shop", "ProviderBusy: HTTP 503 from payments"),
            ("/shop", "quota exceeded"),
            ("/other", "ProviderBusy: HTTP 503 from payments"),
        ):
            new = NewPlaybook(pattern, "Wait a minute.", "payments", folder)
            await memory.playbooks.add(new, by=SYSTEM)
        await memory.playbooks.count("playbook-1", helped=True, used_by="ada", by=SYSTEM)
        retrieval = Retrieval(
            SqliteItems(memory, SYSTEM), None, clock, playbooks=PlaybookRetriever(memory)
        )
        await retrieval.log("/shop", NewItem("The payments moved to another provider."))
        error = "order 77: ProviderBusy, HTTP 503 from payments"
        answered = await retrieval.context(ContextQuestion("/shop", error))
        assert [one.candidate.citation for one in answered.found] == [
            "dcf://playbook/playbook-1",
            "dcf://memory/passage-1",
        ]
        (first, _) = answered.found
        assert first.why[0] == (
            "1. of playbook: says 5 of 5 words of the pattern: provider, busy, http, payments, 503"
        )
        entry = context_item(first)
        assert (entry["type"], entry["owner"], entry["helped"]) == ("playbook", "payments", 1)
        assert "stale" not in entry and "Resolution: Wait a minute." in entry["text"]
        small = await retrieval.context(ContextQuestion("/shop", error, limit=100, budget=1_000))
        assert small.bundle is not None and small.bundle.parts["playbook"].taken == 1
        # The formula of the guide knows memory, code and documents.
        guide = await retrieval.context(ContextQuestion("/shop", error, mode="guide"))
        assert [one.candidate.kind for one in guide.found] == ["memory"]
        clock.now += 400 * 86_400_000
        (old, _) = (await retrieval.context(ContextQuestion("/shop", error))).found
        assert context_item(old)["stale"] == "it was not confirmed for 400 days"
        answered = await retrieval.context(ContextQuestion("/shop", "where do orders go?"))
        assert all(one.candidate.kind == "memory" for one in answered.found)
