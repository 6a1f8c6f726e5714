"""An expression as its engine runs it: with what must stand around it, and what it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dcf.asl.jsonata.functions import AWS_FUNCTIONS, BARRED, FUNCTION_NAMES, PRELUDES
from dcf.asl.jsonata.syntax import parse_jsonata
from dcf.asl.jsonata.tameness import tame_size
from dcf.asl.jsonata.tokens import Token, neighbours
from dcf.asl.payload import JSON
from dcf.asl.scope import Scope

_DRAWING = frozenset({"random", "uuid", "shuffle"})
_COUNTING = frozenset({"round", "parseInteger", "toMillis"})
_LOOKING = frozenset({"now", "millis", "toMillis"})
_TAKES_FUNCTION = frozenset({"map", "filter", "reduce", "sort", "each", "sift", "single"})
"""Functions that never give the function that they are given."""

_CHECKED = (
    "$dcf_v := ({text}); $type($dcf_v) = 'function' or $exists($dcf_v.**[$type($) = 'function'])"
    f" ? ${BARRED}() : $dcf_v"
)
"""The engine leaves functions out of a result, which is an error on AWS. What an author names is
bound in the brackets: a variable called ``type`` hides no function out here."""


_CALLED = frozenset({"type", "exists"})
"""Functions that are called around an expression: here, in preludes, and by the engine's room."""
_RENAMED = "dcf_own_"


@dataclass(frozen=True, slots=True)
class Program:
    """``text`` nests ``around`` levels deeper than the expression that an author wrote."""

    text: str
    around: int
    is_input: bool
    """Whether it takes its variables out of its context item."""
    renamed: frozenset[str]
    """Variables that it takes under another name, since what stands around it calls functions of
    these names."""
    reads: dict[str, Any] | None
    """What it may read, by variable, field, field of that field; None for everything."""
    functions: frozenset[str]
    """Names of functions in it: a variable of such a name is read in place of the function."""
    draws: bool
    """Whether it may draw random numbers."""
    divides: bool
    """Whether a null in its result may be the number of ``0 / 0``, which is none."""
    looks_at_clock: bool
    """Whether the moment may matter: a date without a year takes it from there."""
    tame_size: int
    """The most characters of JSON with which it may run in this process; 0 if it may never."""
    source: str
    """What an author wrote: a tame one runs as it is."""

    def readable(self, scope: Scope, picked: Mapping[str, JSON]) -> dict[str, JSON]:
        """The variables, cut down to what is read. ``$eval`` is none of Step Functions."""
        given = {"eval": None, **scope.variables, "states": scope.states, **picked}
        found = given
        if self.reads is not None:
            found = {"eval": given["eval"]}
            for name, inner in self.reads.items():
                if name in given:
                    found[name] = _cut(given[name], inner)
        for name in self.renamed & found.keys():
            found[_RENAMED + name] = found.pop(name)
        return found


@lru_cache(maxsize=256)
def read_program(text: str, hidden: frozenset[str] = frozenset()) -> Program:
    """Raises ExpressionError for what is no JSONata.

    ``hidden`` are functions that a variable of the same name hides.
    """
    expression, words = parse_jsonata(text)
    functions = FUNCTION_NAMES - hidden
    named = {word.text for word in words if word.kind == "variable"}
    reads = expression.reads(dict.fromkeys(AWS_FUNCTIONS.keys() & named & functions, len))
    # Of a name that the expression gives a value itself, the engine does not say that it is read
    # outside of that value's block too.
    variables = {
        **dict.fromkeys(named - functions - {"", "$"}, True),
        **{name: inner for name, inner in reads["bindings"].items() if name not in functions},
        **dict.fromkeys(named & hidden, True),
    }
    preludes = [prelude for name, prelude in PRELUDES.items() if name in named & functions]
    is_checked = _may_give_function(words)
    tame = 0 if is_checked or hidden else tame_size(words)
    is_input = "input" not in reads and "everyBinding" not in reads
    renamed = frozenset() if is_input else hidden & _CALLED
    inner = [f"${name} := ${_RENAMED}{name}" for name in renamed]
    if is_input:
        inner = [f"${name} := $$.`{name}`" for name in variables]
    whole, around = text, 0
    if inner:
        whole, around = "; ".join([*inner, text]), 1
    if is_checked:
        whole, around = "; ".join([*preludes, _CHECKED.format(text=whole)]), 3
    elif preludes:
        whole, around = "; ".join([*preludes, f"({whole})"]), 2
    return Program(
        f"({whole})" if around else text,
        around,
        is_input,
        renamed,
        None if "everyBinding" in reads else variables,
        FUNCTION_NAMES & named,
        not named.isdisjoint(_DRAWING),
        any(word.is_sign("/", "%") for word in words) or not named.isdisjoint(_COUNTING),
        not named.isdisjoint(_LOOKING),
        tame,
        text,
    )


def _cut(value: JSON, read: Any) -> JSON:
    """The fields of objects that are read; what stands in an array is left whole."""
    if type(read) is not dict or type(value) is not dict:
        return value
    return {name: _cut(value[name], inner) for name, inner in read.items() if name in value}


def _may_give_function(words: Sequence[Token]) -> bool:
    """Whether a function may be a value, and not only what is called."""
    calls: list[str] = []  # for each open bracket the function that is called with it
    for before, word, after in neighbours(words):
        is_called = after is not None and after.is_sign("(")
        if word.is_sign("(", "[", "{"):
            is_call = word.text == "(" and before is not None and before.kind == "variable"
            calls.append(before.text if is_call and before is not None else "")
        elif word.is_sign(")", "]", "}"):
            calls.pop()
        elif word.is_sign("~>"):
            return True
        elif word.is_sign("?"):
            if before is not None and before.is_sign("(", ","):
                return True
        elif word.kind == "variable":
            if word.text in FUNCTION_NAMES and not is_called:
                return True
        elif word.kind == "name" and word.text in ("function", "λ") and is_called:
            is_argument = before is not None and before.is_sign("(", ",")
            if not (is_argument and calls[-1] in _TAKES_FUNCTION):
                return True
    return False
