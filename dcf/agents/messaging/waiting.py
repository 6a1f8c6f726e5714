"""Waiting for the answer to a message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from dcf.agents.messaging.errors import ReplyTimeout, UnknownReceipt
from dcf.memory import UnknownLetter

if TYPE_CHECKING:
    from dcf.agents.messaging.inbox import Inbox
    from dcf.agents.reply import Receipt
    from dcf.memory import Letter

_SHORTEST_S = 0.005
_LONGEST_S = 0.25


async def ended_letter(
    inbox: Inbox,
    receipt: Receipt,
    timeout_s: float,
    *,
    clock: Callable[[], float],
    wake: Callable[[], None],
) -> Letter:
    """The letter once it is answered or has failed, whichever process did it. ``wake`` has letters
    delivered that nobody works on. Raises ReplyTimeout, UnknownReceipt."""
    began, pause_s = clock(), _SHORTEST_S
    while True:
        try:
            letter = await inbox.get(receipt.id)
        except UnknownLetter as unknown:
            raise UnknownReceipt(receipt=receipt.id) from unknown
        left = timeout_s - (clock() - began)
        if letter.state in ("answered", "failed"):
            return letter
        if letter.state == "expired" or left <= 0:
            raise ReplyTimeout(
                receipt=receipt.id,
                agent_id=receipt.agent_id,
                seconds=timeout_s,
                state=f"it is {letter.state}",
            )
        wake()
        await asyncio.sleep(min(pause_s, left))
        pause_s = min(pause_s * 1.5, _LONGEST_S)
