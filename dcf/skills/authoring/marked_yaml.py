"""YAML text to a document of JSON values that remembers the line of everything.

Only the safe subset is read: no tags beyond JSON's types, no duplicate keys, text keys, one
document a file. Nesting, size and the expansion of aliases are bounded, so that a small file
cannot become a large value.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, cast

import yaml

from dcf.problem import Problem
from dcf.skills.authoring.place import Document, Mark, escape
from dcf.skills.authoring.scalar import TAG, read_scalar

MAX_DEPTH = 64
MAX_VALUES = 100_000
_FAULTS = (yaml.YAMLError, ValueError, OverflowError)
# libyaml takes a fifteenth of the time of PyYAML itself. Every wheel of PyYAML has it, a build from
# source may not. The two differ in rare texts: libyaml accepts more tabs, tags and uses of `? ` and
# `---`, and counts fewer kinds of line breaks.
_Quick = getattr(yaml, "CSafeLoader", None)
_QUOTE = 'put it in quotes ("…") when text is meant'


def read_yaml(text: str, file: str) -> tuple[Document | None, list[Problem]]:
    """The document in ``text``, and its problems; None when an error stands in the way.

    Never raises, whatever the text is. ``file`` is the name that problems carry.
    """
    try:
        node = _root(text)
    except _TooDeep as error:
        line, column = _mark(error.mark)
        message = f"values are nested more than {MAX_DEPTH} deep"
        return None, [Problem("SKILL_YAML_LIMIT", message, "", "", "error", file, line, column)]
    except _FAULTS as error:
        return None, [_syntax_problem(error, file)]
    if node is None:
        return None, [
            Problem(
                "SKILL_YAML_EMPTY",
                "the file is empty",
                file=file,
                line=1,
                column=1,
                hint="write the document, or remove the file",
            )
        ]
    reader = _Reader(file)
    value = reader.read(node, "")
    errors = any(problem.is_error for problem in reader.problems)
    return (None if errors else Document(file, value, reader.marks)), reader.problems


def _root(text: str) -> yaml.Node | None:
    """The node of the whole text. Raises ``_TooDeep``, and one of ``_FAULTS`` with PyYAML's words,
    which do not depend on the installation."""
    if _Quick is not None:
        with suppress(*_FAULTS):
            if _within_depth(yaml.parse(text, Loader=_Quick)):
                return cast(yaml.Node | None, _Quick(text).get_single_node())
    return _Bounded(text).get_single_node()


def _within_depth(events: Iterable[yaml.Event]) -> bool:
    """Whether collections are nested as deep as is allowed: before they are composed, which libyaml
    does by recursion."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                return False
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return True


class _TooDeep(Exception):
    """A collection at ``mark`` is nested too deep."""

    def __init__(self, mark: yaml.Mark) -> None:
        super().__init__()
        self.mark = mark


class _Bounded(yaml.SafeLoader):
    """Composes nodes, by recursion as PyYAML does, but never deeper than is allowed."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self._depth == MAX_DEPTH and self.check_event(yaml.CollectionStartEvent):
            raise _TooDeep(self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _mark(mark: Any) -> Mark:
    return mark.line + 1, mark.column + 1


def _syntax_problem(error: Exception, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = _mark(mark) if mark else (1, 1)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if "expected a single document" in str(error):
        return Problem(
            "SKILL_YAML_DOCUMENTS",
            "the file holds more than one document",
            "",
            "one file, one document: remove the line with ---",
            "error",
            file,
            line,
            column,
        )
    hint = "check indentation, colons and quotes on this line and the one before"
    message = f"not valid YAML: {reason}"
    return Problem("SKILL_YAML_SYNTAX", message, "", hint, "error", file, line, column)


class _Reader:
    """Turns nodes into values. The budget counts every value, aliases as often as they occur."""

    def __init__(self, file: str) -> None:
        self.problems: list[Problem] = []
        self.marks: dict[str, Mark] = {}
        self._file = file
        self._budget = MAX_VALUES
        self._open: set[int] = set()

    def read(self, node: yaml.Node, pointer: str) -> Any:
        self.marks.setdefault(pointer, _mark(node.start_mark))
        self._budget -= 1
        if self._budget < 0:
            if self._budget == -1:
                message = f"the file expands to more than {MAX_VALUES} values"
                hint = "split the file, or use fewer aliases (*name)"
                self._object(node, pointer, "SKILL_YAML_LIMIT", message, hint)
            return None
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, pointer)
        if id(node) in self._open:
            message = "an alias (*name) stands inside the value that it names"
            self._object(node, pointer, "SKILL_YAML_RECURSION", message)
            return None
        if len(self._open) == MAX_DEPTH:
            message = f"values are nested more than {MAX_DEPTH} deep, through aliases (*name)"
            self._object(node, pointer, "SKILL_YAML_LIMIT", message)
            self._budget = -1  # once is enough: what follows is not read
            return None
        self._open.add(id(node))
        try:
            return self._collection(node, pointer)
        finally:
            self._open.discard(id(node))

    def _scalar(self, node: yaml.ScalarNode, pointer: str) -> Any:
        scalar = read_scalar(node.tag, node.value)
        if scalar is None:
            self._unknown_tag(node, pointer)
            return None
        if scalar.objection:
            self._object(node, pointer, "SKILL_YAML_VALUE", scalar.objection, _QUOTE)
        if scalar.warning:
            line, column = _mark(node.start_mark)
            self.problems.append(
                Problem(
                    "SKILL_YAML_AMBIGUOUS",
                    scalar.warning,
                    pointer,
                    f"write true or false; {_QUOTE}",
                    "warning",
                    self._file,
                    line,
                    column,
                )
            )
        return scalar.value

    def _collection(self, node: yaml.Node, pointer: str) -> Any:
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{TAG}seq":
            return [self.read(item, f"{pointer}/{index}") for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == f"{TAG}map":
            return self._mapping(node, pointer)
        self._unknown_tag(node, pointer)
        return None

    def _mapping(self, node: yaml.MappingNode, pointer: str) -> dict[str, Any]:
        value: dict[str, Any] = {}
        merged: list[yaml.Node] = []
        for key, item in node.value:
            if key.tag == f"{TAG}merge":
                merged.append(item)
                continue
            name = self._key(key, pointer)
            if name is None:
                continue
            place = f"{pointer}/{escape(name)}"
            if name in value:
                first = self.marks[place][0]
                message = f"the key {name!r} stands twice (first on line {first})"
                self._object(key, place, "SKILL_YAML_DUPLICATE_KEY", message, "keep one of the two")
                continue
            # A merged mapping is read at the same pointer later: the first mark stays.
            self.marks.setdefault(place, _mark(key.start_mark))
            value[name] = self.read(item, place)
        for item in merged:
            self._merge(item, pointer, value)
        return value

    def _merge(self, node: yaml.Node, pointer: str, value: dict[str, Any]) -> None:
        """``<<``: members of the merged mappings, where the mapping has none of its own."""
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            known = len(self.problems)
            members = self.read(source, pointer)
            if not isinstance(members, dict):
                if self._budget < 0 or len(self.problems) > known:
                    continue  # what is wrong was said already
                message = "<< takes a mapping, or a list of mappings"
                self._object(source, pointer, "SKILL_YAML_MERGE", message)
                continue
            for name, item in members.items():
                value.setdefault(name, item)

    def _key(self, key: yaml.Node, pointer: str) -> str | None:
        scalar = read_scalar(key.tag, key.value) if isinstance(key, yaml.ScalarNode) else None
        if scalar is not None and isinstance(scalar.value, str) and not scalar.objection:
            return scalar.value
        shown = f" {key.value!r}" if isinstance(key, yaml.ScalarNode) else ""
        self._object(key, pointer, "SKILL_YAML_KEY", f"the key{shown} is not text", _QUOTE)
        return None

    def _unknown_tag(self, node: yaml.Node, pointer: str) -> None:
        message = f"the tag {node.tag.replace(TAG, '!!')!r} has no meaning here"
        self._object(node, pointer, "SKILL_YAML_TAG", message, "remove the tag")

    def _object(
        self, node: yaml.Node, pointer: str, code: str, message: str, hint: str = ""
    ) -> None:
        line, column = _mark(node.start_mark)
        self.problems.append(
            Problem(code, message, pointer, hint, "error", self._file, line, column)
        )
