"""``dcf callback``: where the token comes from."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from dcf.cli import callback
from dcf.cli.callback import CallbackOrder, call_back
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.workflow import TokenClaim


def answer(order: CallbackOrder) -> None:
    """Do what ``order`` says."""
    asyncio.run(call_back(order, Settings.from_env({}), Screen(as_json=True)))


@pytest.fixture
def beats(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tokens that showed a sign of life, without a server."""
    told: list[str] = []

    async def found(*_: Any) -> str:
        return ""

    @asynccontextmanager
    async def opened(_: str) -> AsyncIterator[None]:
        yield None

    async def beat(_: Any, token: str) -> TokenClaim:
        told.append(token)
        return TokenClaim("run-1", "A", 1, 1, b"")

    monkeypatch.setattr(callback, "find_redis", found)
    monkeypatch.setattr(callback, "open_store", opened)
    monkeypatch.setattr(callback, "beat_task", beat)
    return told


def test_a_token_may_come_from_standard_input(
    beats: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("WyJh\n"))
    answer(CallbackOrder("-", None, None, "", True))
    answer(CallbackOrder("WyJi", None, None, "", True))
    assert beats == ["WyJh", "WyJi"]


def test_token_and_result_cannot_both_come_from_standard_input(beats: list[str]) -> None:
    with pytest.raises(BadInput, match="standard input"):
        answer(CallbackOrder("-", "-", None, "", False))
    assert beats == []


def test_an_error_without_a_name_is_refused(beats: list[str]) -> None:
    with pytest.raises(BadInput, match="--error names the error"):
        answer(CallbackOrder("WyJi", None, "", "", False))
