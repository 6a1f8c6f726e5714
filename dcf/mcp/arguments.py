"""Checking the arguments of a call: all problems at once, unknown ones ignored with a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from dcf.mcp.envelope import BadArguments
from dcf.mcp.json_text import read_json, storable
from dcf.problem import Problem

WITHDRAWN = {
    "redis_url": "this server is bound to one Redis; no tool takes another",
}
"""Parameters of the earlier server that no tool has any more, and why."""
_MOST_PROBLEMS = 20
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool. ``kind`` is what the function gets."""

    name: str
    kind: Any
    help: str
    default: Any = None
    required: bool = True

    @property
    def is_json(self) -> bool:
        """Whether the wire carries JSON text, of which the function gets the value."""
        return self.name.endswith("_json") and not self.is_text

    @property
    def is_text(self) -> bool:
        return self.kind in (str, str | None)


class Parameters:
    """The parameters of a tool in order."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self.all = tuple(parameters)
        self._by_name = {one.name: one for one in self.all}

    @cached_property
    def model(self) -> type[BaseModel]:
        """What validates the arguments."""
        fields: dict[str, Any] = {
            one.name: (one.kind, ... if one.required else one.default) for one in self.all
        }
        config = ConfigDict(
            extra="ignore",
            coerce_numbers_to_str=True,
            arbitrary_types_allowed=True,
            protected_namespaces=(),
        )
        return create_model("Arguments", __config__=config, **fields)

    def read(self, arguments: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
        """The values by name. Raises BadArguments with every problem."""
        problems: list[Problem] = []
        given: dict[str, Any] = {}
        for name, value in arguments.items():
            parameter = self._by_name.get(name)
            if parameter is None:
                warnings.append(self._ignored(name))
                continue
            if value is None and not parameter.required:
                # Some clients send every parameter; null stands for "not given".
                continue
            given[name] = self._read_one(parameter, value, problems)
        broken = {problem.path.split("/")[1] for problem in problems}
        try:
            values = self.model.model_validate(given)
        except ValidationError as error:
            problems += _problems(error, broken)
        except RecursionError:
            problems.append(Problem("MCP_ARGUMENT", "the arguments are nested too deeply"))
        if problems:
            raise BadArguments(problems[:_MOST_PROBLEMS])
        return {one.name: getattr(values, one.name) for one in self.all}

    def _read_one(self, parameter: Parameter, value: Any, problems: list[Problem]) -> Any:
        why = storable(value)
        if why is None and parameter.is_json:
            value, wrong = read_json(parameter.name, value)
            if wrong is not None:
                problems.append(wrong)
                return None
            why = storable(value)
        elif why is None and parameter.name.endswith("_json") and not isinstance(value, str):
            # The text of what a client sent as a value.
            return _dumped(value)
        if why is not None:
            problems.append(Problem("MCP_ARGUMENT", why, f"/{parameter.name}"))
        return value

    def _ignored(self, name: str) -> str:
        shown = repr(name[:_LONGEST_SHOWN]).encode("utf-8", "backslashreplace").decode()
        if name in WITHDRAWN:
            return f"parameter {shown} is ignored: {WITHDRAWN[name]}"
        near = get_close_matches(name[:_LONGEST_SHOWN], self._by_name, n=1, cutoff=0.7)
        other = f"; did you mean {near[0]!r}?" if near else ""
        return f"parameter {shown} is ignored: this tool has none of that name{other}"


def _dumped(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _problems(error: ValidationError, broken: set[str]) -> list[Problem]:
    found = []
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        name = str(one["loc"][0]) if one["loc"] else ""
        if name in broken:
            continue
        path = "".join(f"/{part}" for part in one["loc"])
        message = "is required" if one["type"] == "missing" else _message(one["msg"])
        found.append(Problem("MCP_ARGUMENT", message, path))
    return found


def _message(text: str) -> str:
    """What pydantic puts before the text of a check says nothing to a caller."""
    return text.removeprefix("Value error, ")
