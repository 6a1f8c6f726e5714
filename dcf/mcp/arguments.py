"""Checking the arguments of a call: all problems at once, unknown ones ignored with a warning, or
refused by tools that write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
class Alias:
    """Another name that a parameter is taken under. Clients are not told of it."""

    name: str


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool. ``kind`` is what the function gets, ``aliases`` the other names that
    it is taken under."""

    name: str
    kind: Any
    help: str
    default: Any = None
    required: bool = True
    aliases: tuple[str, ...] = ()

    @property
    def is_json(self) -> bool:
        """Whether the wire carries JSON text, of which the function gets the value."""
        return self.name.endswith("_json") and not self.is_text

    @property
    def is_text(self) -> bool:
        return self.kind in (str, str | None)


class Parameters:
    """The parameters of a tool in order. A ``strict`` tool refuses arguments that it does not know:
    it writes, so nobody may believe in a filter or a text that was dropped."""

    def __init__(self, parameters: Sequence[Parameter], *, strict: bool = False) -> None:
        self.all = tuple(parameters)
        self.strict = strict
        self._by_name = {one.name: one for one in self.all}
        self.aliases = {alias: one for one in self.all for alias in one.aliases}

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
        strangers: list[Problem] = []
        given: dict[str, Any] = {}
        for name, value in arguments.items():
            parameter = self._by_name.get(name) or self.aliases.get(name)
            if parameter is None:
                self._strange(name, value, strangers, warnings)
                continue
            if self._not_given(parameter, name, value, arguments):
                continue
            read = self._read_one(parameter, value, problems)
            if given.setdefault(parameter.name, read) is not read and given[parameter.name] != read:
                message = f"has another value under {' or '.join(parameter.aliases)}"
                problems.append(Problem("MCP_ARGUMENT", message, f"/{parameter.name}"))
        broken = {problem.path.split("/")[1] for problem in problems}
        try:
            values = self.model.model_validate(given)
        except ValidationError as error:
            problems += _problems(error, broken)
        except RecursionError:
            problems.append(Problem("MCP_ARGUMENT", "the arguments are nested too deeply"))
        problems += strangers
        if problems:
            raise BadArguments(problems[:_MOST_PROBLEMS])
        return {one.name: getattr(values, one.name) for one in self.all}

    def as_given(
        self, problems: Sequence[Problem], arguments: Mapping[str, Any]
    ) -> tuple[Problem, ...]:
        """``problems``, each at the name under which the client gave the argument."""
        given = {
            f"/{one.name}": f"/{alias}"
            for one in self.all
            for alias in one.aliases
            if one.name not in arguments and arguments.get(alias) is not None
        }
        return tuple(replace(one, path=_renamed(one.path or "", given)) for one in problems)

    def _not_given(
        self, parameter: Parameter, name: str, value: Any, arguments: Mapping[str, Any]
    ) -> bool:
        """Whether ``value`` stands for nothing: some clients send every parameter, with null or an
        empty text under the names that they do not use."""
        if value is None and (not parameter.required or name != parameter.name):
            return True
        others = [one for one in (parameter.name, *parameter.aliases) if one != name]
        return value in (None, "") and any(arguments.get(one) not in (None, "") for one in others)

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

    def _strange(
        self, name: str, value: Any, strangers: list[Problem], warnings: list[str]
    ) -> None:
        """Say of an argument that no parameter takes that it is ignored, or why it is refused."""
        cut = name[:_LONGEST_SHOWN].encode("utf-8", "backslashreplace").decode()
        if name in WITHDRAWN:
            warnings.append(f"parameter {cut!r} is ignored: {WITHDRAWN[name]}")
            return
        near = get_close_matches(cut, self._by_name, n=1, cutoff=0.7)
        why = f"this tool has none of that name{f'; did you mean {near[0]!r}?' if near else ''}"
        if not self.strict:
            warnings.append(f"parameter {cut!r} is ignored: {why}")
        elif value is not None:
            place = cut.replace("~", "~0").replace("/", "~1")
            hint = f"nothing was done; this tool takes {', '.join(self._by_name)}"
            strangers.append(Problem("MCP_ARGUMENT", why, f"/{place}", hint=hint))


def _renamed(path: str, given: Mapping[str, str]) -> str:
    """``path`` with its first part as ``given``."""
    first, slash, more = path.removeprefix("/").partition("/")
    return f"{given.get(f'/{first}', f'/{first}')}{slash}{more}" if path else path


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
