"""What a context is made of, and how large it may be: for workflows, which ask for one, and for
what makes it."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["memory", "observation", "thread", "playbook", "code", "document", "fact"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FILE_KINDS: tuple[Kind, ...] = ("code", "document")
"""Of what stands in the files of a project; all others are of what is remembered."""
LEAST_BUDGET, MOST_BUDGET = 100, 1_000_000
"""Tokens."""
