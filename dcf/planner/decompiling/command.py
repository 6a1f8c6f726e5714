"""The command that a Task runs, read back from its argv.

Only what is said with the very words is taken: the argument list, compiled and printed again, has
to be the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dcf.planner.compiling.command_arguments import command_arguments
from dcf.planner.compiling.expression import Names
from dcf.planner.decompiling.state_ends import literal_of
from dcf.sop import (
    Argument,
    ArgumentList,
    NotPlain,
    Placeholder,
    print_run,
    read_argument_list,
)

_TAKEN = re.compile(r"\$v\d+ := \$([A-Za-z_]\w*)(?=;)")
_PARTS = re.compile(r"""\$v(?P<at>\d+)|(?P<text>'[^'\\]*'|"(?:[^"\\]|\\.)*")""")
_JOINED = re.compile(rf"(?:{_PARTS.pattern.replace('?P<at>', '').replace('?P<text>', '')}| & )+")


def command_of(state: Mapping[str, Any], binding: Mapping[str, Any]) -> ArgumentList | None:
    """The command of a Task of one skill; None of another, and of one that no text says."""
    given = state.get("Arguments")
    argv = given.get("argv") if isinstance(given, Mapping) else None
    if not isinstance(argv, list) or len(binding.get("skills", ())) != 1:
        return None
    found = ArgumentList(tuple(_argument(one) for one in argv))
    if command_arguments(found, Names(), None)["argv"] != argv:
        return None
    try:
        return found if read_argument_list(print_run(found).strip("`")) == found else None
    except NotPlain:
        return None


def _argument(text: Any) -> Argument:
    """The parts of ``text``; those of what no compiler writes are not the same again."""
    if not isinstance(text, str):
        return ()
    if not text.startswith("{%"):
        return (text,)
    expression = text.removeprefix("{%").removesuffix("%}").strip()
    names = _TAKEN.findall(expression)
    if not names:
        whole = _PARTS.fullmatch(expression)
        return (literal_of(whole["text"]),) if whole and whole["text"] else ()
    joined = expression.removesuffix(")").rpartition("; ")[2]
    if not _JOINED.fullmatch(joined):
        return ()
    # A variable is counted by its place among the parts.
    taken = iter(names)
    return tuple(
        literal_of(one["text"]) if one["text"] else Placeholder(next(taken, ""))
        for one in _PARTS.finditer(joined)
    )
