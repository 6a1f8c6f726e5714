"""What a code of the catalogue has: its rule, a definition that breaks it, what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from dcf.asl.definition import STANDARD, MachineType, validate
from dcf.asl.reading.source import MAX_DEFINITION, read_json, too_large
from dcf.problem import Problem

Example: TypeAlias = dict[str, Any] | str | Callable[[], str]
"""A definition, its text where it is no JSON, or what makes that text where it is long."""

_SHOWN = 300


@dataclass(frozen=True, slots=True)
class ProblemCode:
    """``example`` breaks ``rule`` and gives a problem with this code, perhaps among others.

    ``type`` and ``only_aws`` say how to validate it.
    """

    rule: str
    hint: str
    example: Example
    type: MachineType = STANDARD
    only_aws: bool = False
    is_warning: bool = False

    @property
    def text(self) -> str:
        """The example as JSON text."""
        if isinstance(self.example, dict):
            return json.dumps(self.example, ensure_ascii=False)
        return self.example if isinstance(self.example, str) else self.example()

    @property
    def shown(self) -> str:
        """The example for people: cut where it is long."""
        text = self.text
        return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} … {text[-40:]}"

    def problems(self) -> list[Problem]:
        """What validation says to the example."""
        if isinstance(self.example, dict):
            return validate(self.example, self.type, only_aws=self.only_aws)
        text = self.text
        if len(text) > MAX_DEFINITION:
            return [too_large(len(text))]
        value, problems = read_json(text)
        return problems or validate(value, self.type, only_aws=self.only_aws)


def machine(**states: dict[str, Any]) -> dict[str, Any]:
    """A definition that starts at the first of ``states``."""
    return {"StartAt": next(iter(states)), "States": states}


def alone(state_type: str, **fields: Any) -> dict[str, Any]:
    """A definition of one state that ends it."""
    return machine(A={"Type": state_type, **fields, "End": True})
