"""In which order a conversation tells what others asked for and what came of it."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from dcf.cli.session.conversation import Conversation
from dcf.cli.session.overhearing import Said
from dcf.sessions.conductor import Reply

GIVEN = Said("conductor", "given to a companion", "theirs")
DONE = Reply("theirs", "Task 1 is done.")


class _Conductor:
    """Sees by itself that a task of somebody else's request has ended."""

    async def attend(self, _session_id: str) -> list[Reply]:
        return [DONE]


class _Others:
    """Somebody else said something since the last look; then ``fails``."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.news: deque[Said] = deque()
        self._fails = fails

    async def begin(self) -> None: ...

    def heard(self, _reply: Reply) -> None: ...

    def is_ours(self, _request: str) -> bool:
        return False

    async def read(self) -> None:
        self.news.append(GIVEN)
        if self._fails is not None:
            raise self._fails


def _conversation(others: _Others, told: list[str]) -> Conversation:
    desk: Any = SimpleNamespace(sessions=None)
    conductor: Any = _Conductor()
    talk = Conversation(
        desk,
        conductor,
        "desk-1",
        heard=lambda reply: told.append(reply.text),
        overheard=lambda said: told.append(said.text),
    )
    talk._others = others  # type: ignore[assignment]
    return talk


async def test_what_was_asked_for_is_told_before_what_came_of_it() -> None:
    told: list[str] = []
    await _conversation(_Others(), told).attend()
    assert told == [GIVEN.text, DONE.text]


async def test_an_answer_is_told_where_what_others_say_cannot_be_read() -> None:
    told: list[str] = []
    with pytest.raises(ConnectionError):
        await _conversation(_Others(ConnectionError("away")), told).attend()
    assert told == [DONE.text]
