"""What each operator of a path does in each place that takes one, by rule and source.

Written from the sources, not from the code: a test holds the interpreter against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcf.cli.reference_pages.markdown import page, table

Kind = Literal[
    "one",
    "last",
    "several",
    "function",
    "context",
    "variable",
    "call",
    "null",
    "gone",
    "past_end",
    "inside",
    "function_of_gone",
    "none",
]

VALUE = "value"
VALUES = "array"
EMPTY = "empty array"
NULL = "null"
WRITTEN = "written"
NO_MATCH = "no match"
PRESENT = "true"
ABSENT = "false"
FAILS = "`States.Runtime`"
NO_PLACE = "`States.ResultPathMatchFailure`"
NO_PATH = "refused: `ASL_BAD_PATH`"
NO_REFERENCE = "refused: `ASL_BAD_REFERENCE_PATH`"


@dataclass(frozen=True, slots=True)
class PathOperator:
    """One way of selecting, with an example; ``selects`` says in words what that selects."""

    name: str
    example: str
    kind: Kind
    selects: str


OPERATORS: tuple[PathOperator, ...] = (
    PathOperator("root", "$", "one", "all data"),
    PathOperator("name", "$.one", "one", "one value"),
    PathOperator("name in brackets", "$['a b']['one']", "one", "one value"),
    PathOperator("index", "$.list[0]", "one", "one value"),
    PathOperator("negative index", "$.list[-1]", "last", "one value, counted from the end"),
    PathOperator("wildcard", "$.list[*]", "several", "all items"),
    PathOperator("scan", "$..one", "several", "all members of that name, at any depth"),
    PathOperator("slice", "$.list[0:1]", "several", "the items in that range"),
    PathOperator("filter", "$.rows[?(@.k == 1)]", "several", "the items that match"),
    PathOperator("list of indexes", "$.list[0,1]", "several", "those items"),
    PathOperator("function length()", "$.list.length()", "function", "the number of items"),
    PathOperator("function min()", "$.numbers.min()", "function", "the least number"),
    PathOperator("context object", "$$.Execution.Input.one", "context", "one value"),
    PathOperator("variable", "$v", "variable", "the value of the variable"),
    PathOperator(
        "intrinsic call", "States.ArrayGetItem($.list, 0)", "call", "the result of the call"
    ),
    PathOperator("null", "$.null", "null", "null: the field is there"),
    PathOperator("missing name", "$.gone", "gone", "nothing: there is no such field"),
    PathOperator("index past the end", "$.list[5]", "past_end", "nothing: the array is shorter"),
    PathOperator("name in no object", "$.one.x", "inside", "nothing: `one` is no object"),
    PathOperator("function of missing", "$.gone.length()", "function_of_gone", "nothing"),
    PathOperator("wildcard of missing", "$.gone[*]", "none", "no items"),
    PathOperator("slice of missing", "$.gone[0:1]", "none", "no items"),
    PathOperator("filter of missing", "$.gone[?(@.k == 1)]", "none", "no items"),
    PathOperator("filter without a match", "$.rows[?(@.k == 9)]", "none", "no items"),
)


@dataclass(frozen=True, slots=True)
class PathPlace:
    """A field that takes a path: what it makes of each kind of operator.

    ``sources`` are numbers of the list on the page.
    """

    name: str
    sources: tuple[int, ...]
    one: str = VALUE
    several: str = VALUES
    function: str = VALUE
    null: str = VALUE
    gone: str = FAILS
    past_end: str = FAILS
    inside: str = FAILS
    function_of_gone: str = FAILS
    none: str = EMPTY
    last: str = VALUE
    context: str = VALUE
    variable: str = VALUE
    call: str = NO_PATH

    def expected(self, operator: PathOperator) -> str:
        """What the place makes of the operator."""
        told: str = getattr(self, operator.kind)
        return told


_SEVERAL: tuple[Kind, ...] = ("several", "none", "function", "function_of_gone")


def _reference(name: str, *sources: int, call: str = NO_PATH, context: str = VALUE) -> PathPlace:
    """A place for a Reference Path, whose value must be of one type, which null never is."""
    refused = dict.fromkeys(_SEVERAL, NO_REFERENCE)
    return PathPlace(name, (2, *sources), null=FAILS, call=call, context=context, **refused)


def _template(name: str) -> PathPlace:
    return PathPlace(name, (1, 3, 4, 5, 6, 11), call=VALUE, past_end=NULL)


def _compared(name: str) -> PathPlace:
    return PathPlace(name, (1, 3, 4, 5, 8), several=NO_MATCH, null=NO_MATCH, none=NO_MATCH)


GROUPS: dict[str, tuple[PathPlace, ...]] = {
    "Fields that select data": (
        PathPlace("InputPath", (1, 3, 4, 5)),
        PathPlace("OutputPath", (1, 3, 4, 5)),
        _reference("ItemsPath", 3, 4, 5),
    ),
    "Payload templates": (
        _template("Parameters"),
        _template("ItemSelector"),
        _template("ResultSelector"),
        _template("Assign"),
        PathPlace("intrinsic argument", (1, 3, 4, 5, 6), call=VALUE),
    ),
    "The place of a result": (
        PathPlace(
            "ResultPath",
            (2, 7),
            **dict.fromkeys(("one", "null", "gone"), WRITTEN),
            **dict.fromkeys(("past_end", "inside"), NO_PLACE),
            **dict.fromkeys((*_SEVERAL, "last", "context", "variable"), NO_REFERENCE),
        ),
    ),
    "Choice rules": (
        _compared("Variable"),
        _compared("NumericEqualsPath"),
        PathPlace(
            "Variable of IsPresent",
            (1, 3, 4, 8),
            **dict.fromkeys(("one", "several", "function", "null", "last"), PRESENT),
            **dict.fromkeys(("context", "variable"), PRESENT),
            **dict.fromkeys(("gone", "past_end", "inside", "function_of_gone", "none"), ABSENT),
        ),
    ),
    "Times, limits and errors": (
        _reference("SecondsPath", 4, 5),
        _reference("TimestampPath", 4, 5),
        _reference("TimeoutSecondsPath", 4, 5),
        _reference("HeartbeatSecondsPath", 4, 5),
        _reference("ErrorPath", 4, 5, 9, call=VALUE),
        _reference("CausePath", 4, 5, 9, call=VALUE),
        _reference("MaxConcurrencyPath", 4, 5, 10, context=NO_REFERENCE),
        _reference("ToleratedFailureCountPath", 4, 5, 10, context=NO_REFERENCE),
        _reference("ToleratedFailurePercentagePath", 4, 5, 10, context=NO_REFERENCE),
    ),
}
"""By a title."""

PLACES: tuple[PathPlace, ...] = tuple(place for group in GROUPS.values() for place in group)

_INTRODUCTION = """\
What each operator of a JSONPath gives in each field that takes a path. The tables are written from
the sources below, and a test holds the interpreter against every cell. The operators are rows, the
fields are columns. The paths are examples, read from this input:

```json
{
  "one": 2, "a b": {"one": 2}, "null": null,
  "list": [2, 2], "numbers": [3, 2], "rows": [{"k": 1}, {"k": 2}]
}
```

Where a field needs a value of another type, such as a timestamp, `one` and the items of `list` have
that type. `gone` is not in the input; the variable `$v` has the value of `one`.

In a name in quotes, the backslash and the quote itself are the only escapes: `$['\\u00fc']` is no
`ü`. So it was recorded on AWS; Jayway's version 2.9 reads all escapes there. In the texts of a
filter all are read: `[?(@ == '\\u00fc')]`.
"""

_LEGEND = (
    (VALUE, "the value that is selected, and the field acts on it: it waits so many seconds, …"),
    (VALUES, "an array of all values that are selected"),
    (EMPTY, "an array without items; no error"),
    (NULL, "null; no error"),
    (WRITTEN, "the result is there in the output; a field that was missing is made"),
    (NO_MATCH, "the rule does not match, and the next one is tried"),
    (f"{PRESENT}, {ABSENT}", "what `IsPresent` says of the path"),
    ("`States.…`", "the state fails with this error"),
    ("refused: `ASL_…`", "`dcf asl validate` refuses the definition with this code"),
)

_SPEC = "https://states-language.net/spec.html"
_GUIDE = "https://docs.aws.amazon.com/step-functions/latest/dg"
_SOURCES = (
    f"[Specification, Paths]({_SPEC}#path): all of JSONPath as Jayway reads it; several values"
    " become an array. Step Functions gives `[]` where a path to several values finds none.",
    f"[Specification, Reference Paths]({_SPEC}#ref-paths), and the"
    f" [developer guide]({_GUIDE}/amazon-states-language-paths.html): one place only; no `@`, `,`,"
    " `:`, `?`, no functions.",
    f"[Developer guide, Context object]({_GUIDE}/input-output-contextobject.html): the fields that"
    " may read it. Where the list does not name a field and nothing forbids it, it may.",
    f"[Developer guide, variables]({_GUIDE}/workflow-variables.html): a path may start with one.",
    "Recorded on AWS: a path that finds nothing ends the execution with `States.Runtime`; the"
    " specification has other names for some places.",
    f"[Specification, Payload Template and Intrinsic Functions]({_SPEC}#payload-template).",
    f"[Specification, Using InputPath … OutputPath]({_SPEC}#using-paths): it names a place in the"
    " input, is made where it is missing, and is never in the context object. A result that cannot"
    " be put there fails with `States.ResultPathMatchFailure`.",
    f"[Specification, Choice Rules]({_SPEC}#choice-state): values of another type do not match;"
    " `IsPresent` is false where the path matches nothing, and a null is a match.",
    f"[Specification, Fail State]({_SPEC}#fail-state): Reference Paths or intrinsic calls.",
    f"[Developer guide, Map state]({_GUIDE}/state-map.html): a path into the input of the state.",
    "Recorded on AWS: an index past the end gives null in a payload template, and nowhere else.",
)


def path_places_page() -> str:
    """The page as Markdown."""
    operators = [(one.name, f"`{one.example}`", one.selects) for one in OPERATORS]
    groups = [part for title, places in GROUPS.items() for part in _group(title, places)]
    sources = "\n".join(f"{number}. {source}" for number, source in enumerate(_SOURCES, 1))
    return page(
        "Paths by place",
        _INTRODUCTION,
        "## Operators",
        table(("operator", "example", "it selects"), operators),
        "## What the cells say",
        table(("cell", "meaning"), _LEGEND),
        *groups,
        "## Sources",
        sources,
    )


def _group(title: str, places: tuple[PathPlace, ...]) -> tuple[str, str]:
    """The heading and the table of ``places``: those that agree throughout are one column."""
    columns: dict[tuple[str, ...], list[PathPlace]] = {}
    for place in places:
        columns.setdefault(tuple(map(place.expected, OPERATORS)), []).append(place)
    headings = [", ".join(f"`{one.name}`" for one in alike) for alike in columns.values()]
    cells = zip(*columns, strict=True)
    rows = [(one.name, f"`{one.example}`", *row) for one, row in zip(OPERATORS, cells, strict=True)]
    numbers = [
        ", ".join(map(str, sorted({source for place in alike for source in place.sources})))
        for alike in columns.values()
    ]
    rows.append(("sources", "", *numbers))
    return f"## {title}", table(("operator", "example", *headings), rows)
