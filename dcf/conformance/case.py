"""One case of a corpus: what was asked of AWS, and what it answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from dcf.asl import JSON

Op: TypeAlias = Literal["execute", "test_state", "create", "validate", "variable_references"]
OPS: tuple[str, ...] = get_args(Op)


@dataclass(frozen=True, slots=True)
class Case:
    """``request`` is the whole line, for what only one op reads; the rest is what all read.

    ``expected`` has ``status`` and, by op, ``output``, ``error``, ``cause``, ``diagnostics``,
    ``variableReferences``. Each of ``placeholders`` stands for any text inside the expectation.
    """

    name: str
    op: Op
    expected: Mapping[str, Any]
    request: Mapping[str, Any]
    family: str = ""
    tags: tuple[str, ...] = ()
    placeholders: tuple[str, ...] = ()
    definition: JSON = None
    definition_text: str | None = None
    input: JSON = None
    tasks: Mapping[str, Any] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_express(self) -> bool:
        """Whether it was recorded as an EXPRESS execution."""
        return self.request.get("type") == "EXPRESS"

    @property
    def is_stopped_from_outside(self) -> bool:
        """Whether whoever recorded it stopped the execution: no interpreter can end so."""
        return self.expected.get("status") == "ABORTED"
