"""What cannot be taken back lightly is asked for first."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

from dcf.cli.screen import Screen
from dcf.cli.trouble import NotSo
from dcf.cli.visible import visible


def at_terminal(screen: Screen) -> bool:
    """Whether somebody sees what is shown, and can answer."""
    return not screen.as_json and sys.stdin.isatty() and screen.human.is_terminal


def confirm(question: str, screen: Screen, *, sure: bool, words: str = "y") -> None:
    """Raises NotSo unless the person at the terminal answers with ``words``, or was ``sure``."""
    if sure:
        return
    if not at_terminal(screen):
        message = f"{question} Nobody is asked here, so nothing was done"
        raise NotSo("not_confirmed", message, "say --yes if you mean it")
    given = answer_to(input, f"{question} [{words}/N] ").strip().lower()
    if given not in ({"y", "yes"} if words == "y" else {words}):
        raise NotSo("not_confirmed", "nothing was done", f"answer {words}, or say --yes")


def answer_to(read: Callable[[str], str], question: str) -> str:
    """What somebody answers; nothing at the end of the input. The question may quote texts of
    others. Ctrl-C raises KeyboardInterrupt."""
    # The event loop would keep Ctrl-C until an answer has come.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return read(visible(question))
    except EOFError:
        return ""
    finally:
        signal.signal(signal.SIGINT, before)
