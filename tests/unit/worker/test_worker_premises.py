"""What a process that works does besides its work."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from dcf.memory import Source
from dcf.retrieval import Lifetimes
from dcf.worker import Post, open_premises, process


@pytest.mark.parametrize("besides", [True, False])
async def test_a_process_for_one_state_carries_nothing_to_the_graph(
    besides: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its death is charged to the state, so it must be of the state's doing."""
    relays: list[str] = []

    async def relay(post: Post, *_: Any) -> None:
        relays.append(post.name)

    monkeypatch.setattr(process, "_relay", relay)
    post = Post("redis://127.0.0.1:1", "w", env={"DCF_GRAPH_URL": "redis://127.0.0.1:1"})
    async with AsyncExitStack() as stack:
        await open_premises(post, stack, besides=besides)
    assert relays == (["w"] if besides else [])


async def test_a_task_is_told_from_the_home_wherever_the_memory_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And of items as long as the setting says."""
    made: list[tuple[Any, ...]] = []

    class Bundles(process.RunBundles):
        def __init__(self, *what: Any) -> None:
            made.append(what)
            super().__init__(*what)

    monkeypatch.setattr(process, "RunBundles", Bundles)
    (tmp_path / "generated").mkdir()
    post = Post(
        *("redis://127.0.0.1:1", "w"),
        generated=tmp_path / "generated",
        memory=Source(tmp_path / "elsewhere" / "m.db"),
        home=tmp_path / "home",
        env={"DCF_GRAPH": "off", "DCF_RETRIEVAL_TTL": "*=1w"},
    )
    async with AsyncExitStack() as stack:
        await open_premises(post, stack, besides=False)
    ((_, home, *_, lifetimes, _),) = made
    assert (home, lifetimes) == (tmp_path / "home", Lifetimes(others=7 * 86_400_000))
