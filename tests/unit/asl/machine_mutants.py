"""Every rule of the grammar broken in turn, mechanically, wherever a machine gives the chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from asl_grammar import JSONATA, PATH, STATE_SHAPES, Field, Shape, fields_of

Way = tuple[str | int, ...]
_ABSENT = object()


@dataclass(frozen=True)
class Mutant:
    """``definition`` breaks ``rule`` at ``pointer``, which is to be reported with ``code``."""

    rule: str
    definition: dict[str, Any]
    code: str
    pointer: str

    @property
    def name(self) -> str:
        return f"{self.rule} at {self.pointer}"


WRONG: dict[str, tuple[Any, ...]] = {
    "text": (3, None, True, [], {}),
    "number": ("3", None, True, [], {}),
    "flag": ("true", None, 1, [], {}),
    "array": ("x", None, 3, {}),
    "object": ("x", None, 3, []),
}
"""Values that are none of a type."""

BAD_PATHS = ("", "order", "$.", "$[", "$.a[", "$.a..", "$.a[?(", "$.a b", "$.a[x]", "$.a.['b]")
SEVERAL = ("$.a[*]", "$..a", "$.a[?(@.b)]", "$.a[0,1]", "$.a[0:2]", "$.*", "$['a','b']")
"""Paths that may select several places: no Reference Paths."""

BAD_CALLS = ("States.Fromat('{}', $.a)", "States.Format(", "States.UUID(1)", "States.Hash($.a)")
BAD_JSONATA = {
    "{% 1 + %}": "ASL_BAD_JSONATA",
    "{% 1 + 2": "ASL_UNCLOSED_JSONATA",
    "{% total > 1 %}": "ASL_UNSUPPORTED_JSONATA",
    "{% $$.total %}": "ASL_UNSUPPORTED_JSONATA",
    "{% $.total %}": "ASL_UNSUPPORTED_JSONATA",
}
BAD_INSTANTS = ("2016-03-14", "2016-03-14 01:59:00Z", "2016-03-14T01:59:00", "2016-13-14T01:59:00Z")
BAD_VARIABLES = ("order-id", "1st", "", "a b", "states", "a" * 81)
BAD_LABELS = ("", "my orders", "a*b", "x" * 41)
_TYPE, _RANGE = "ASL_WRONG_TYPE", "ASL_OUT_OF_RANGE"
_PATH, _REFERENCE = "ASL_BAD_PATH", "ASL_BAD_REFERENCE_PATH"


def mutants(root: dict[str, Any]) -> Iterator[Mutant]:
    """All mutants of a definition."""
    yield from _Breaker(root).machine((), "machine")


def put(value: Any, way: Way, new: Any) -> Any:
    """``value`` with ``new`` at ``way``, or without that member; nothing is changed in place."""
    if not way:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    step: Any = way[0]
    if len(way) == 1 and new is _ABSENT:
        del copy[step]
    else:
        inner = copy.get(step) if isinstance(copy, dict) else copy[step]
        copy[step] = put(inner, way[1:], new)
    return copy


def without(value: Any, way: Way) -> Any:
    """``value`` without the member at ``way``."""
    return put(value, way, _ABSENT)


def pointer(way: Way) -> str:
    """``way`` as a JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in way)


class _Breaker:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._language = root.get("QueryLanguage", PATH)

    def machine(self, way: Way, shape: str) -> Iterator[Mutant]:
        """A machine, at the root or inside a state, and everything in it."""
        yield from self.object(way, shape, self._language)
        names = list(self._at((*way, "States")))
        more = self._at((*way, "States"))
        done = {"Type": "Succeed"}
        for name in ("", "x" * 81):
            states = {**more, name: done}
            yield self._mutant("name of 1 to 80 characters", (*way, "States"), states,
                               "ASL_BAD_STATE_NAME", (*way, "States", name))  # fmt: skip
        yield self._mutant("every state can be reached", (*way, "States"), {**more, "Lost": done},
                           "ASL_UNREACHABLE_STATE", (*way, "States", "Lost"))  # fmt: skip
        if way:
            copy = {**more, "Last": done}
            yield self._mutant("names are unique", (*way, "States"), copy,
                               "ASL_DUPLICATE_STATE_NAME", self._second_last(way))  # fmt: skip
        else:
            loop = {name: {"Type": "Pass", "Next": names[0]} for name in names}
            changed = {**self._root, "StartAt": names[0], "States": loop}
            yield Mutant("a state ends it", changed, "ASL_NO_TERMINAL_STATE", "/States")
        for name in names if way else ["S"]:
            yield from self.state((*way, "States", name))

    def _second_last(self, way: Way) -> Way:
        # The one that is read second: inner machines come before the states behind theirs.
        return ("States", "Last")

    def state(self, way: Way) -> Iterator[Mutant]:
        """One state."""
        state = self._at(way)
        language = state.get("QueryLanguage", self._language)
        yield from self.object(way, "state", language)
        for wrong in WRONG["object"]:
            yield self._mutant("a state is an object", way, wrong, _TYPE, way)
        if self._language == JSONATA:
            yield self._mutant("JSONata is not left", (*way, "QueryLanguage"), PATH,
                               "ASL_QUERY_LANGUAGE_REVERTED", way)  # fmt: skip
        yield from self._way_on(way, state)
        if state["Type"] == "Wait":
            yield from self._times(way, state, language)
        if state["Type"] == "Map":
            yield from self._distribution(way, state)

    def _way_on(self, way: Way, state: dict[str, Any]) -> Iterator[Mutant]:
        if "Next" not in STATE_SHAPES[state["Type"]]:
            return
        none = "ASL_NO_TRANSITION"
        rest = {name: value for name, value in state.items() if name not in ("Next", "End")}
        both = {**rest, "Next": "Last", "End": True}
        yield self._mutant("Next or End", way, rest, none, way)
        yield self._mutant("End is not false alone", way, {**rest, "End": False}, none, way)
        yield self._mutant("not both Next and End", way, both, "ASL_NEXT_AND_END", way)

    def _times(self, way: Way, state: dict[str, Any], language: str) -> Iterator[Mutant]:
        times = {"Seconds": 1, "Timestamp": "2016-03-14T01:59:00Z"}
        if language == PATH:
            times |= {"SecondsPath": "$.s", "TimestampPath": "$.t"}
        rest = {name: value for name, value in state.items() if name not in times}
        yield self._mutant("a Wait has a time", way, rest, "ASL_BAD_WAIT", way)
        for name, value in times.items():
            if name not in state:
                yield self._mutant("a Wait has one time", (*way, name), value, "ASL_BAD_WAIT", way)

    def _distribution(self, way: Way, state: dict[str, Any]) -> Iterator[Mutant]:
        config = (*way, "ItemProcessor", "ProcessorConfig")
        if state.get("ItemProcessor", {}).get("ProcessorConfig", {}).get("Mode") != "DISTRIBUTED":
            yield self._mutant("inline Maps have no label", (*way, "Label"), "x",
                               "ASL_NOT_DISTRIBUTED", (*way, "Label"))  # fmt: skip
            return
        yield self._mutant("its children have a type", (*config, "ExecutionType"), _ABSENT,
                           "ASL_MISSING_FIELD", config)  # fmt: skip
        inline = {"Mode": "INLINE"}
        for field in ("ItemReader", "ItemBatcher", "ResultWriter", "Label"):
            if field in state:
                yield self._mutant("inline Maps have less", config, inline,
                                   "ASL_NOT_DISTRIBUTED", (*way, field))  # fmt: skip

    def object(self, way: Way, shape: str, language: str) -> Iterator[Mutant]:
        """An object of a ``shape`` whose fields are broken one by one."""
        value = self._at(way)
        fields = fields_of(shape, value)
        for name in ("Unknown", "comment"):
            yield self._mutant("known fields only", (*way, name), "x", "ASL_UNKNOWN_FIELD",
                               (*way, name))  # fmt: skip
        for name, field in fields.items():
            here = (*way, name)
            if name in value and field.kind != "any":
                yield from self._field(here, field, language)
            if field.required and name in value:
                yield self._mutant("required fields", here, _ABSENT, "ASL_MISSING_FIELD", way)
            if field.language and field.language != language:
                example = "$.a" if field.language == PATH else "{% 1 %}"
                yield self._mutant("fields of the language", here, example,
                                   "ASL_WRONG_QUERY_LANGUAGE", here)  # fmt: skip
        yield from self._exclusive(way, value, fields, language)
        if shape == "state":
            foreign = {name for other in STATE_SHAPES.values() for name in other} - fields.keys()
            for name in sorted(foreign):
                yield self._mutant("fields of the type", (*way, name), "$.a",
                                   "ASL_UNKNOWN_FIELD", (*way, name))  # fmt: skip
        if shape == "batcher":
            yield self._mutant("a batch has a limit", way, {}, "ASL_MISSING_FIELD", way)
        if "rule" in shape:
            yield from self._rule(way, value, shape, language)

    def _exclusive(
        self, way: Way, value: dict[str, Any], fields: Shape, language: str
    ) -> Iterator[Mutant]:
        for name, field in fields.items():
            path = f"{name}Path"
            # A Wait has a rule of its own for its times.
            if path not in fields or not field.amount or language != PATH or name in _TIMES:
                continue
            if name in value:
                added: Way = (*way, path)
                yield self._mutant("a value or a path to it", added, "$.a", "ASL_FIELD_CLASH",
                                   added)  # fmt: skip
            elif path in value:
                fixed = "x" if field.kind == "words" else 5
                yield self._mutant("a path or the value", (*way, name), fixed, "ASL_FIELD_CLASH",
                                   (*way, path))  # fmt: skip
        for new, old in (("ItemProcessor", "Iterator"), ("ItemSelector", "Parameters")):
            if new in value and old in fields and language == PATH:
                yield self._mutant("one of two names", (*way, old), value[new], "ASL_FIELD_CLASH",
                                   (*way, old))  # fmt: skip

    def _rule(self, way: Way, value: dict[str, Any], shape: str, language: str) -> Iterator[Mutant]:
        if language == JSONATA:
            yield self._mutant("a rule has a condition", (*way, "Condition"), _ABSENT,
                               "ASL_MISSING_FIELD", way)  # fmt: skip
            return
        bad = "ASL_BAD_CHOICE_RULE"
        if "Variable" in value:
            [operator] = (name for name in value if name not in ("Variable", "Next", "Comment"))
            yield self._mutant("an operator needs a variable", (*way, "Variable"), _ABSENT,
                               "ASL_MISSING_FIELD", way)  # fmt: skip
            yield self._mutant("one operator", (*way, operator), _ABSENT, bad, way)
            other = "IsNull" if operator != "IsNull" else "IsString"
            yield self._mutant("not two operators", (*way, other), True, bad, way)
            rest = {name: content for name, content in value.items() if name != operator}
            misspelt = {**rest, f"{operator}s": value[operator]}
            yield self._mutant("operators of the language", way, misspelt, "ASL_UNKNOWN_FIELD",
                               (*way, f"{operator}s"))  # fmt: skip
            yield self._mutant("comparison or combination", (*way, "And"),
                               [{"Variable": "$.a", "IsNull": True}], bad, way)  # fmt: skip
        else:
            yield self._mutant("a combination has no variable", (*way, "Variable"), "$.a",
                               "ASL_UNKNOWN_FIELD", (*way, "Variable"))  # fmt: skip
        if shape == "inner rule":
            yield self._mutant("only outer rules go on", (*way, "Next"), "Last",
                               "ASL_UNKNOWN_FIELD", (*way, "Next"))  # fmt: skip

    def _field(self, way: Way, field: Field, language: str) -> Iterator[Mutant]:
        value = self._at(way)
        kind = field.kind
        if field.shape and isinstance(value, (dict, list)):
            yield from self._inside(way, field, value, language)
        if language == JSONATA and (field.amount or kind in _EVALUATED):
            for text, code in BAD_JSONATA.items():
                yield self._mutant("JSONata is sound", way, text, code, way)
        if field.amount and language == JSONATA and kind in ("integer", "number"):
            yield self._mutant("a number or JSONata", way, "5", _TYPE, way)
        for rule, new, code, below in _breaks(field, value, language):
            yield self._mutant(rule, way, new, code, (*way, *below))

    def _inside(self, way: Way, field: Field, value: Any, language: str) -> Iterator[Mutant]:
        if field.kind in ("machine", "machines"):
            machines = [way] if field.kind == "machine" else [(*way, i) for i in range(len(value))]
            for machine in machines:
                yield from self.machine(machine, field.shape)
        elif isinstance(value, list):
            for index in range(len(value)):
                yield from self.object((*way, index), field.shape, language)
        else:
            yield from self.object(way, field.shape, language)

    def _at(self, way: Way) -> Any:
        value: Any = self._root
        for step in way:
            value = value[step]
        return value

    def _mutant(self, rule: str, way: Way, new: Any, code: str, place: Way) -> Mutant:
        return Mutant(rule, put(self._root, way, new), code, pointer(place))


_TIMES = ("Seconds", "Timestamp")
_EVALUATED = ("payload", "condition", "items", "template or payload")
_Break = tuple[str, Any, str, Way]


def _breaks(field: Field, value: Any, language: str) -> Iterator[_Break]:
    """(rule, new value, code, place below the field) of what may not stand in a field."""
    kind = field.kind
    for wrong in _wrong(field, value, language):
        yield "the type of the value", wrong, _TYPE, ()
    if kind in ("integer", "number"):
        for number in (field.low - 1, field.high + 1):
            yield "numbers in their range", number, _RANGE, ()
    elif kind in ("word", "type"):
        code = _RANGE if kind == "word" else "ASL_UNKNOWN_TYPE"
        for word in ("", "Nope", str(value).swapcase()):
            if word != value:
                yield "words of the language", word, code, ()
    elif "path" in kind:
        yield from _path_breaks(kind)
    elif kind == "state":
        yield "targets are states of the machine", "Nowhere", "ASL_UNKNOWN_STATE", ()
    elif kind == "name":
        yield "names are not empty", "", _RANGE, ()
    elif "instant" in kind:
        for text in BAD_INSTANTS:
            yield "timestamps of RFC 3339", text, "ASL_BAD_TIMESTAMP", ()
    elif kind == "label":
        for text in BAD_LABELS:
            yield "labels", text, "ASL_BAD_LABEL", ()
    elif kind == "states":
        yield "a machine has states", {}, _RANGE, ()
    elif kind == "variables" or (kind.startswith("template") and language == PATH):
        yield from _template_breaks(kind, value, language)
    if kind in ("payload", "template or payload") and language == JSONATA:
        for text, code in BAD_JSONATA.items():
            yield "JSONata is sound", {"a": [{"b": text}]}, code, ("a", 0, "b")
    yield from _array_breaks(kind, value)


def _wrong(field: Field, value: Any, language: str) -> tuple[Any, ...]:
    kind = field.kind
    if "path" in kind or kind in ("text", "word", "words", "type", "state", "name", "instant"):
        nullable = kind in ("path or null", "result path")
        return tuple(wrong for wrong in WRONG["text"] if wrong is not None or not nullable)
    if kind.startswith("operand"):
        return WRONG[kind.split()[1]] if kind != "operand instant" else WRONG["text"]
    if kind in ("integer", "number"):
        expressions = field.amount and language == JSONATA
        wrong = tuple(one for one in WRONG["number"] if one != "3" or not expressions)
        return wrong if kind == "number" else (*wrong, 1.5)
    table = {
        "end": WRONG["flag"],
        "label": WRONG["text"],
        "condition": (3, None, [], {}, "yes"),
        "items": (3, None, True, "text"),
        "variables": WRONG["object"],
        "object": WRONG["object"],
        "machine": WRONG["object"],
        "rule": WRONG["object"],
        "states": WRONG["object"],
        **dict.fromkeys(("objects", "rules", "machines", "error names", "texts"), WRONG["array"]),
    }
    if kind.startswith("template") and language == PATH:
        return (3, None, "x")
    return table.get(kind, ())


def _path_breaks(kind: str) -> Iterator[_Break]:
    for text in BAD_PATHS:
        yield "paths are JSONPath", text, _PATH, ()
    if kind in ("reference path", "result path", "path or call"):
        for text in SEVERAL:
            yield "reference paths name one place", text, _REFERENCE, ()
    if kind == "result path":
        for text in ("$$.a", "$variable", "$variable.a", "$.a.length()"):
            yield "results go into the data", text, _REFERENCE, ()
    if kind == "path or call":
        for text in BAD_CALLS:
            yield "intrinsic calls are sound", text, "ASL_BAD_INTRINSIC", ()
    else:
        yield "a path is no call", "States.UUID()", _PATH, ()


def _template_breaks(kind: str, value: Any, language: str) -> Iterator[_Break]:
    if kind == "variables":
        for name in BAD_VARIABLES:
            # A text that no language evaluates.
            yield "names of variables", {**value, name: 1}, "ASL_BAD_VARIABLE_NAME", (name,)
    if language == JSONATA:
        for text, code in BAD_JSONATA.items():
            yield "JSONata is sound", {**value, "bad": [text]}, code, ("bad", 0)
        return
    for wrong in (3, None, [], {}):
        yield "fields ending in .$", {**value, "bad.$": wrong}, "ASL_BAD_TEMPLATE", ("bad.$",)
    for text in BAD_PATHS:
        yield "paths are JSONPath", {**value, "bad.$": text}, _PATH, ("bad.$",)
    for text in BAD_CALLS:
        deep = {**value, "in": [{"bad.$": text}]}
        yield "intrinsic calls are sound", deep, "ASL_BAD_INTRINSIC", ("in", 0, "bad.$")
    if kind != "variables":
        clash = {**value, "same": 1, "same.$": "$"}
        yield "names differ without .$", clash, "ASL_TEMPLATE_KEY_CLASH", ("same.$",)


def _array_breaks(kind: str, value: Any) -> Iterator[_Break]:
    empty = {
        "rules": "ASL_BAD_CHOICE_RULE",
        "machines": _RANGE,
        "error names": "ASL_BAD_ERROR_EQUALS",
        "texts": _RANGE,
    }
    if kind in empty:
        yield "arrays that are not empty", [], empty[kind], ()
    if kind in ("objects", "rules", "machines"):
        yield "arrays of objects", [*value, 3], _TYPE, (len(value),)
    if kind in ("error names", "texts"):
        yield "arrays of texts", [*value, 3], _TYPE, (len(value),)
    if kind == "error names":
        both = ["States.ALL", "Other"]
        yield "States.ALL stands alone", both, "ASL_BAD_ERROR_EQUALS", ()
    if kind == "objects" and len(value) > 1:
        first = {**value[0], "ErrorEquals": ["States.ALL"]}
        place = (0, "ErrorEquals")
        yield "States.ALL comes last", [first, *value[1:]], "ASL_BAD_ERROR_EQUALS", place
