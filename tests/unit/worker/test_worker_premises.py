"""What a process that works does besides its work."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import pytest

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
