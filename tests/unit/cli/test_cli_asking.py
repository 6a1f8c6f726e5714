"""Questions at a terminal: Ctrl-C is heard at once, and the end of the input is no answer."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest

from dcf.cli.approvals import DecisionOrder, _show
from dcf.cli.trouble import NotSo

ORDER = DecisionOrder("r", None, None, "approve", "ada", "", None, None, sure=False)


class Silent:
    def say(self, line: str) -> None: ...


async def ask() -> None:
    screen: Any = Silent()
    _show(["refund of 900"], ORDER, screen, asks=True)


def test_an_approval_is_asked_for_where_ctrl_c_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[object] = []

    def answer(_question: str) -> str:
        heard.append(signal.getsignal(signal.SIGINT))
        return "Y "

    monkeypatch.setattr("builtins.input", answer)
    asyncio.run(ask())
    assert heard == [signal.default_int_handler], "the event loop would keep it to itself"


def test_the_end_of_the_input_approves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_question: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nothing)
    with pytest.raises(NotSo, match="nothing was decided"):
        asyncio.run(ask())
