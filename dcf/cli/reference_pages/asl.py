"""The page of the Amazon States Language: what is supported, and how much of it was checked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

from dcf.asl.vocabulary import (
    AWS_FUNCTIONS,
    COMPARISONS,
    DELIMITERS,
    FUNCTION_NAMES,
    INPUT_TYPES,
    INTRINSICS,
    JSONATA_FIELDS,
    JSONPATH_FIELDS,
    KINDS,
    MAX_DEFINITION,
    MAX_DEPTH,
    OPERATORS,
    PATH_FUNCTIONS,
    PAYLOAD_LIMIT,
    PROCESSOR_FIELDS,
    ROOT_FIELDS,
    STATE_FIELDS,
    errors,
)
from dcf.cli.reference_pages.markdown import page, table
from dcf.cli.reference_pages.task_errors import TASK_ERRORS

_INTRO = """\
The whole [States Language](https://states-language.net), both query languages, as Step Functions
runs it. The tables are those that the program works with. How a workflow is written around a
machine is in [workflows](workflow.md); every problem that a check can report, with an example, in
[problem codes](problems.md). To run and test machines:
[how to](../how-to/test-a-machine.md)."""
_FIELDS = """\
A state has the fields of the second column, and those of its query language."""
_READER = """\
Read from object references, and from local files with `dcf asl run --objects`. Columnar files
(`PARQUET`) are accepted where a definition names them, as on AWS, and cannot be read."""
_LIMITS = """\
Expressions run under limits of time, depth and size: one that takes too long is an error of its
state, not a hung worker."""
_ENGINES = {
    "pure": "The interpreter",
    "twin": "The engine on its twin in memory",
    "redis": "The engine on Redis",
}
_CONFORMANCE = """\
`dcf asl conformance` runs recorded cases and compares what comes out
([how to](../how-to/conformance.md)). *Status*: it ended as recorded. *Value*: with that output and
that error name. *Exact*: with that cause, or, for a definition or request that is refused, with
that message. *Details*: the arguments of every Task, and the stages of every tested state, are
the recorded ones.

The cases are made from the snapshots that LocalStack has recorded on AWS for its own tests
(Apache-2.0). That corpus is not in this repository: to run it, put it into a file of
[this format](../how-to/conformance.md#a-corpus), give the file to the command, or let `make test`
find it in `DCF_CORPUS`. The recorded runs, each with its date and the command that made it
(with `--report`), engine by engine. Comparisons with implementations of other people are on
[a page of their own](oracles.md):"""


def asl_page() -> str:
    """The text of ``asl.md``."""
    return page(
        "Amazon States Language",
        _INTRO,
        f"## States and their fields\n\n{_FIELDS}\n\n{_fields()}\n\n{_machine_fields()}",
        f"## Choice\n\n{_choice()}",
        f"## JSONPath\n\n{_jsonpath()}",
        f"## JSONata\n\n{_jsonata()}",
        f"## ItemReader\n\n{_READER}\n\n{_reader()}",
        f"## Error names\n\n{_errors()}",
        f"## Limits\n\n{_LIMITS}\n\n{_limits()}",
        f"## Conformance\n\n{_CONFORMANCE}\n\n{conformance_report()}",
    )


def _fields() -> str:
    rows = [
        (f"**{kind}**", _codes(both), _codes(JSONPATH_FIELDS[kind]), _codes(JSONATA_FIELDS[kind]))
        for kind, both in STATE_FIELDS.items()
    ]
    return table(("state", "in both", "JSONPath", "JSONata"), rows)


def _machine_fields() -> str:
    rows = [("the machine", _codes(ROOT_FIELDS)), ("an ItemProcessor", _codes(PROCESSOR_FIELDS))]
    return table(("object", "fields"), rows)


def _choice() -> str:
    with_path = [name for name, operator in OPERATORS.items() if operator.path]
    return table(
        ("what", "names"),
        [
            ("comparison with a value", _codes(OPERATORS, in_order=True)),
            ("comparison with a value at a path", _codes(f"{name}Path" for name in with_path)),
            ("test", _codes(["IsPresent"])),
            ("combination", _codes(["And", "Or", "Not"], in_order=True)),
            ("JSONata", _codes(["Condition"])),
        ],
    )


def _jsonpath() -> str:
    return table(
        ("what", "names"),
        [
            ("intrinsic functions", _codes(INTRINSICS)),
            ("functions of paths", _codes(f"{name}()" for name in PATH_FUNCTIONS)),
            ("comparisons in filters", _codes(COMPARISONS)),
        ],
    )


def _jsonata() -> str:
    from_aws = AWS_FUNCTIONS.keys()
    return table(
        ("what", "names"),
        [
            ("functions of Step Functions", _codes(f"${name}" for name in from_aws)),
            ("functions of JSONata", _codes(f"${name}" for name in FUNCTION_NAMES - from_aws)),
        ],
    )


def _reader() -> str:
    return table(
        ("what", "names"),
        [
            ("`InputType`", _codes(INPUT_TYPES, in_order=True)),
            ("`CSVDelimiter`", _codes(DELIMITERS)),
            ("manifests", _codes(KINDS)),
        ],
    )


def _errors() -> str:
    names = {value for value in vars(errors).values() if str(value).startswith("States.")}
    return table(("name", "when"), ((f"`{name}`", TASK_ERRORS[name]) for name in sorted(names)))


def _limits() -> str:
    return table(
        ("what", "at most"),
        [
            ("a definition", f"{MAX_DEFINITION:,} characters"),
            ("nesting of a definition or payload", f"{MAX_DEPTH} levels"),
            ("a payload with `--aws-limits`", f"{PAYLOAD_LIMIT:,} bytes"),
        ],
    )


def conformance_report() -> str:
    """The counts of the last kept runs of a corpus, engine by engine, and the cases left out."""
    kept = _kept("conformance.json")
    parts = []
    for engine, told in kept.items():
        parts.append(
            f"**{_ENGINES[engine]}**, {told['date']}, `{told['command']}`: {told['cases']} cases, "
            f"{told['skipped']} not tried, {1000 * told['seconds']['median']:.2f} ms a case."
        )
        parts.append(_scores("op", told["ops"]))
    parts += ["By tag, in the interpreter:", _scores("tag", kept["pure"]["tags"])]
    exceptions = _kept("conformance_exceptions.json")
    parts += [
        "Every case that is missing above, by name:",
        table(("case", "why"), [(f"`{name}`", why) for name, why in exceptions.items()]),
    ]
    return "\n\n".join(parts)


def _kept(name: str) -> dict[str, Any]:
    file = resources.files("dcf.cli.reference_pages") / name
    read: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return read


def _scores(group: str, scores: dict[str, Any]) -> str:
    headings = (group, "cases", "status", "value", "exact", "details")
    rows = [
        (name, str(one["cases"]), *(f"{100 * one[h] / one['cases']:.1f} %" for h in headings[2:]))
        for name, one in scores.items()
    ]
    return table(headings, rows)


def _codes(names: Iterable[str], *, in_order: bool = False) -> str:
    listed = list(names) if in_order else sorted(names)
    return ", ".join(f"`{name}`" for name in listed) or "–"
