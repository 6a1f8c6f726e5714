"""What each operator of a path does in each place that takes one, by rule and source.

Written from the sources, not from the code: a test holds the interpreter against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcf.cli.reference_pages.markdown import page, table

Kind = Literal["one", "last", "several", "context", "variable", "call", "null", "gone", "none"]

VALUE = "its value"
VALUES = "an array"
WRITTEN = "written there"
NO_MATCH = "no match"
PRESENT = "present"
ABSENT = "absent"
FAILS = "`States.Runtime`"
NO_PATH = "refused: `ASL_BAD_PATH`"
NO_REFERENCE = "refused: `ASL_BAD_REFERENCE_PATH`"


@dataclass(frozen=True, slots=True)
class PathOperator:
    """One way of selecting, with an example."""

    name: str
    example: str
    kind: Kind


OPERATORS: tuple[PathOperator, ...] = (
    PathOperator("root", "$", "one"),
    PathOperator("name", "$.one", "one"),
    PathOperator("bracketed name", "$['a b']['one']", "one"),
    PathOperator("index", "$.list[0]", "one"),
    PathOperator("negative index", "$.list[-1]", "last"),
    PathOperator("wildcard", "$.list[*]", "several"),
    PathOperator("scan", "$..one", "several"),
    PathOperator("slice", "$.list[0:1]", "several"),
    PathOperator("filter", "$.rows[?(@.k == 1)]", "several"),
    PathOperator("list of indexes", "$.list[0,1]", "several"),
    PathOperator("context object", "$$.Execution.Input.one", "context"),
    PathOperator("variable", "$v", "variable"),
    PathOperator("intrinsic call", "States.ArrayGetItem($.list, 0)", "call"),
    PathOperator("to null", "$.null", "null"),
    PathOperator("missing", "$.gone", "gone"),
    PathOperator("missing, several", "$.gone[*]", "none"),
)


_KINDS: dict[Kind, str] = {
    "one": "one value",
    "last": "one value, counted from the end",
    "several": "any number of values",
    "context": "one value of the context object",
    "variable": "the value of a variable",
    "call": "what a function makes",
    "null": "null, which is there",
    "gone": "nothing: the field is not there",
    "none": "none of any number of values",
}


@dataclass(frozen=True, slots=True)
class PathPlace:
    """A field that takes a path: what it makes of one, of several, of null and of nothing.

    ``sources`` are numbers of the list on the page.
    """

    name: str
    sources: tuple[int, ...]
    one: str = VALUE
    several: str = VALUES
    null: str = VALUE
    gone: str = FAILS
    none: str = VALUES
    last: str = VALUE
    context: str = VALUE
    variable: str = VALUE
    call: str = NO_PATH

    def expected(self, operator: PathOperator) -> str:
        """What the place makes of the operator."""
        told: str = getattr(self, operator.kind)
        return told


def _reference(name: str, *sources: int, call: str = NO_PATH, context: str = VALUE) -> PathPlace:
    """A place for a Reference Path, whose value must be of one type, which null never is."""
    refused = {"several": NO_REFERENCE, "none": NO_REFERENCE}
    return PathPlace(name, (2, *sources), null=FAILS, call=call, context=context, **refused)


PLACES: tuple[PathPlace, ...] = (
    PathPlace("InputPath", (1, 3, 4, 5)),
    PathPlace("OutputPath", (1, 3, 4, 5)),
    PathPlace("Parameters", (1, 3, 4, 5, 6), call=VALUE),
    PathPlace("ItemSelector", (1, 3, 4, 5, 6), call=VALUE),
    PathPlace("ResultSelector", (1, 3, 4, 5, 6), call=VALUE),
    PathPlace("Assign", (1, 3, 4, 5, 6), call=VALUE),
    PathPlace("intrinsic argument", (1, 3, 4, 5, 6), call=VALUE),
    PathPlace(
        "ResultPath",
        (2, 7),
        one=WRITTEN,
        several=NO_REFERENCE,
        null=WRITTEN,
        gone=WRITTEN,
        none=NO_REFERENCE,
        last=NO_REFERENCE,
        context=NO_REFERENCE,
        variable=NO_REFERENCE,
    ),
    PathPlace("Variable", (1, 3, 4, 5, 8), several=NO_MATCH, null=NO_MATCH, none=NO_MATCH),
    PathPlace("NumericEqualsPath", (1, 3, 4, 5, 8), several=NO_MATCH, null=NO_MATCH, none=NO_MATCH),
    PathPlace(
        "Variable of IsPresent",
        (1, 3, 4, 8),
        **dict.fromkeys(("one", "several", "null", "last", "context", "variable"), PRESENT),
        **dict.fromkeys(("gone", "none"), ABSENT),
    ),
    _reference("ItemsPath", 3, 4, 5),
    _reference("SecondsPath", 4, 5),
    _reference("TimestampPath", 4, 5),
    _reference("TimeoutSecondsPath", 4, 5),
    _reference("HeartbeatSecondsPath", 4, 5),
    _reference("ErrorPath", 4, 5, 9, call=VALUE),
    _reference("CausePath", 4, 5, 9, call=VALUE),
    _reference("MaxConcurrencyPath", 4, 5, 10, context=NO_REFERENCE),
    _reference("ToleratedFailureCountPath", 4, 5, 10, context=NO_REFERENCE),
)

_INTRODUCTION = """\
What each operator of a JSONPath does in each field that takes a path. The tables are written from
the sources below, and a test holds the interpreter against every cell. *Refused* is what
`dcf asl validate` says, with the code; `States.Runtime` ends the run. *Its value* counts where it
has the type that the field needs. In the examples `list` is an array, `rows` an array of objects,
and `gone` is not there.
"""

_SPEC = "https://states-language.net/spec.html"
_GUIDE = "https://docs.aws.amazon.com/step-functions/latest/dg"
_SOURCES = (
    f"[Specification, Paths]({_SPEC}#path): all of JSONPath as Jayway reads it; several values"
    " become an array. Jayway gives `[]` where a path to several values finds none.",
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
    " input, is made where it is missing, and is never in the context object.",
    f"[Specification, Choice Rules]({_SPEC}#choice-state): values of another type do not match;"
    " `IsPresent` is false where the path matches nothing, and a null is a match.",
    f"[Specification, Fail State]({_SPEC}#fail-state): Reference Paths or intrinsic calls.",
    f"[Developer guide, Map state]({_GUIDE}/state-map.html): a path into the input of the state.",
)


def path_places_page() -> str:
    """The page as Markdown."""
    operators = [(one.name, f"`{one.example}`", _KINDS[one.kind]) for one in OPERATORS]
    headings = ["field", *(operator.name for operator in OPERATORS), "source"]
    rows = [
        [
            place.name,
            *(place.expected(operator) for operator in OPERATORS),
            ", ".join(map(str, place.sources)),
        ]
        for place in PLACES
    ]
    sources = "\n".join(f"{number}. {source}" for number, source in enumerate(_SOURCES, 1))
    return page(
        "Paths by place",
        _INTRODUCTION,
        "## Operators",
        table(("operator", "example", "it gives"), operators),
        "## Fields",
        table(headings, rows),
        "## Sources",
        sources,
    )
