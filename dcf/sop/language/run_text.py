"""The command that a task runs: ``Runs: `kubectl drain {{node}}` ``.

A file of its own: two forms read and print it, and no other phrase has the words of a command.
"""

from __future__ import annotations

import shlex

from dcf.sop.argument_list import Argument, ArgumentList, NotPlain, read_argument_list
from dcf.sop.language.phrase import Unreadable


def read_run(text: str) -> ArgumentList:
    """One command with its placeholders, in backticks or without. Raises ``Unreadable`` for what is
    more than an argument list."""
    text = text.strip()
    if text.count("`") == 2 and text[0] == text[-1] == "`":
        text = text[1:-1]
    try:
        return read_argument_list(text)
    except NotPlain as more:
        message = f"{text!r} is no command that can be run: {more}"
        hint = "write one program with its arguments: `kubectl drain {{node}}`; no shell reads it"
        raise Unreadable("SOP_COMMAND", message, hint) from None


def print_run(runs: ArgumentList) -> str:
    """As ``read_run`` reads it."""
    command = " ".join(map(_word, runs.arguments))
    return command if "`" in command else f"`{command}`"


def _word(argument: Argument) -> str:
    texts = [part for part in argument if isinstance(part, str)]
    if len(texts) == len(argument):
        # Lines of a procedure have no runs of blanks: between two of them nothing is quoted.
        return shlex.quote("".join(texts)).replace("  ", " '' ").replace("  ", " '' ")
    return "".join(part if isinstance(part, str) else "{{" + part.name + "}}" for part in argument)
