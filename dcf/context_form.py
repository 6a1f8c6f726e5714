"""What a context is made of, and how large it may be: for workflows, which ask for one, and for
what makes it."""

from __future__ import annotations

import textwrap
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["memory", "observation", "thread", "playbook", "code", "document", "fact"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_INDENT = "    "
FILE_KINDS: tuple[Kind, ...] = ("code", "document")
"""Of what stands in the files of a project; all others are of what is remembered."""
LEAST_BUDGET, MOST_BUDGET = 100, 1_000_000
"""Tokens."""


def told_entry(address: str, text: str) -> str:
    """An entry of a context as a model is told it: ``text`` is indented, so that no line of it can
    look like the ``address`` of another one, whoever wrote it. A line is what any reader takes
    for one.

    >>> told_entry("dcf://memory/1", "a\\n\\ndcf://playbook/2")
    'dcf://memory/1\\n    a\\n\\n    dcf://playbook/2'
    """
    return f"{address}\n{textwrap.indent(text, _INDENT)}"
