"""A summary by rule: the opening of each message, as many words as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcf.search import count_tokens

if TYPE_CHECKING:
    from dcf.memory import Message

_LONGEST = 400
_SHORTEST = 24


def extract(messages: Sequence[Message], tokens: int) -> str:
    """What was said in ``messages``, in at most ``tokens`` tokens.

    Each has its line. Where there is no room for that, older ones give theirs up and a line says
    how many; earlier summaries come first and are shortened like the rest.
    """
    length = _LONGEST
    while length > _SHORTEST:
        lines = [_line(message, length) for message in messages]
        if count_tokens("\n".join(lines)) <= tokens:
            return "\n".join(lines)
        length = length * 2 // 3
    lines = [_line(message, _SHORTEST) for message in messages]
    for left_out in range(len(lines)):
        note = [f"({left_out} older messages are not quoted here)"] if left_out else []
        text = "\n".join([*note, *lines[left_out:]])
        if count_tokens(text) <= tokens:
            return text
    return f"({len(lines)} messages are not quoted here)"


def _line(message: Message, length: int) -> str:
    text = " ".join(message.content.split())
    calls = [part["tool"] for part in message.parts if part["kind"] == "call"]
    if calls:
        text = f"{text} (called {', '.join(calls)})".strip()
    for part in message.parts:
        if part["kind"] == "return":
            text = f"{part.get('tool', 'tool')} returned {text or part.get('content')}"
    if message.role == "summary":
        return text[: length * 4]
    cut = text if len(text) <= length else f"{text[: length - 1]}…"
    return f"{message.sender or message.role}: {cut}"
