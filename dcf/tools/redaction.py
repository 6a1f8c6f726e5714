"""Secrets taken out of what a tool server sends back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from dcf.tools.result import JSON, ToolDescription, ToolResult

SHORTEST = 6
"""Values shorter than this are not looked for: they would be found in innocent text too."""


class Redactor:
    """Replaces the values of ``secrets`` (by name) with ``[secret NAME]``.

    A value is found as it is, as it stands inside JSON text, and as it stands in an address. What
    a server makes of it otherwise (reversed, encoded anew) is not recognised.

    >>> Redactor({"TOKEN": "s3cret-s3cret"}).text("Bearer s3cret-s3cret")
    'Bearer [secret TOKEN]'
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._names: dict[str, str] = {}
        for name, value in secrets.items():
            if len(value) >= SHORTEST:
                for form in (value, json.dumps(value)[1:-1], quote(value, safe="")):
                    self._names.setdefault(form, name)
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def text(self, text: str) -> str:
        """``text`` without secrets."""
        if not self._names:
            return text
        return self._pattern.sub(lambda found: f"[secret {self._names[found[0]]}]", text)

    def value(self, value: JSON) -> JSON:
        """The same for every string in a JSON value, names of members too."""
        if not self._names:
            return value
        return self._walk(value)

    def result(self, result: ToolResult) -> ToolResult:
        """The same for everything a tool answered."""
        if not self._names:
            return result
        error = None if result.error is None else self.text(result.error)
        data, text = self.value(result.data), self.text(result.text)
        return replace(result, data=data, text=text, error=error)

    def description(self, tool: ToolDescription) -> ToolDescription:
        """The same for what a server tells about a tool."""
        if not self._names:
            return tool
        return replace(
            tool,
            description=self.text(tool.description),
            input_schema=self.value(tool.input_schema),
            output_schema=self.value(tool.output_schema),
        )

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self._walk(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        return value
