"""What every reader of a state is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from dcf.asl.machine import StateMachine
from dcf.asl.reading.node import Node

ReadMachine: TypeAlias = Callable[[Node, bool], StateMachine]
"""Reads a nested machine; the flag says that it is an item processor."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A state to read: its ``node``, the fields ``common`` to all types, its query language."""

    node: Node
    common: dict[str, Any]
    jsonata: bool
    read_machine: ReadMachine
