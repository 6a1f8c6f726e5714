"""What ``dcf sim --workflow`` is about, read from its files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dcf import asl
from dcf.asl.trial import Invariant, Mocks, MockTrouble, read_mocks
from dcf.cli.answer import Answer
from dcf.cli.input_source import read_file, read_input
from dcf.cli.json_or_yaml import read_json_or_yaml
from dcf.cli.mocks_input import assumed_answers, mocks_value, place_of_mocks
from dcf.cli.screen import Screen
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.workflow import InvalidWorkflow, WorkflowDocument, blank_warning, load, task_states

if TYPE_CHECKING:
    from dcf.simulation import Expectation, Verdict, WorkflowWorld

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WorkflowOptions:
    """What was asked for, as given on the command line."""

    workflow: Path | None
    input: str | None
    mocks: str | None
    invariants: tuple[str, ...]
    invariants_file: Path | None
    objects: Path | None

    def check_alone(self) -> None:
        """Raises BadInput for options that say nothing without a workflow."""
        given = {
            "--input": self.input,
            "--mocks": self.mocks,
            "--invariant": self.invariants or None,
            "--invariants": self.invariants_file,
            "--objects": self.objects,
        }
        raise_all(
            Problem("CLI_SIM", "this is about a workflow, and there is none",
                    hint="name it with --workflow", file=option)
            for option, value in given.items()
            if value is not None
        )  # fmt: skip


def world_of(options: WorkflowOptions, screen: Screen) -> WorkflowWorld:
    """The world of the options, run once by the interpreter. Raises BadInput with every problem and
    its place."""
    assert options.workflow is not None
    problems: list[Problem] = []
    document, text = _document(options.workflow, screen)
    machine = document.machine
    given = read_input(options.input)
    problems += given.problems or given.place(document.check_input(given.value))
    mocks: Any = _all_of(problems, lambda: mocks_value(options.mocks, machine), {})
    invariants: dict[str, str] = _all_of(problems, lambda: _invariants(options), {})
    objects: dict[str, bytes] = _all_of(problems, lambda: _objects(options.objects), {})
    raise_all(problems)
    if blank := blank_warning(document, given.value):
        screen.warn(str(blank))
    for assumed in assumed_answers(mocks, machine):
        screen.warn(assumed)
    from dcf.simulation import Unsimulable, WorkflowWorld

    world = WorkflowWorld(
        name=str(options.workflow),
        raw=text,
        input=json.dumps(given.value),
        mocks=json.dumps(mocks),
        invariants=tuple(invariants.items()),
        options=_options(options, given.value),
        objects=tuple(objects.items()),
    )
    try:
        world.expectation()
    except MockTrouble as trouble:
        raise BadInput(_unmocked(trouble, document, text, mocks, options)) from trouble
    except Unsimulable as trouble:
        problem = Problem(trouble.code, trouble.message, hint=trouble.hint, file=world.name)
        raise BadInput([problem]) from trouble
    return world


def raise_all(problems: Iterator[Problem] | list[Problem]) -> None:
    """Raises BadInput if there are ``problems``."""
    if found := list(problems):
        raise BadInput(found)


def _all_of(problems: list[Problem], read: Callable[[], T], otherwise: T) -> T:
    """What ``read`` gives; where it raises BadInput its problems go to ``problems``."""
    try:
        return read()
    except BadInput as bad:
        problems += bad.problems
        return otherwise


def _document(file: Path, screen: Screen) -> tuple[WorkflowDocument, str]:
    text, unreadable = read_file(file)
    if unreadable is not None:
        raise BadInput([unreadable])
    try:
        document = load(text, file=str(file))
    except InvalidWorkflow as invalid:
        raise BadInput(invalid.problems) from invalid
    for warning in document.warnings:
        screen.warn(str(warning))
    return document, text


def _invariants(options: WorkflowOptions) -> dict[str, str]:
    """Names and expressions; one of the command line is its own name."""
    found = {text: text for text in options.invariants}
    problems = [_wrong(text, "--invariant") for text in options.invariants]
    if options.invariants_file is not None:
        value, place = read_json_or_yaml(options.invariants_file, "ASL_INVARIANT")
        named = value if isinstance(value, dict) else {}
        wrong = [_wrong(text, path=_pointer(name)) for name, text in named.items()]
        if not named:
            hint = 'write {"paid once": "$count($calls[state = \'Pay\']) = 1"}'
            message = "a file of invariants is an object: names, and an expression for each"
            wrong.append(Problem("ASL_INVARIANT", message, hint=hint))
        problems += place([one for one in wrong if one is not None])
        found |= named
    raise_all([one for one in problems if one is not None])
    return found


def _wrong(text: Any, file: str | None = None, path: str = "") -> Problem | None:
    if not isinstance(text, str):
        message, hint = "an invariant is a text with a JSONata expression", "put it into quotes"
        return Problem("ASL_INVARIANT", message, path, hint, file=file)
    try:
        Invariant(text)
    except asl.ExpressionError as error:
        return Problem(error.code, error.message, path, error.hint, file=file)
    return None


def _pointer(name: object) -> str:
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def _objects(folder: Path | None) -> dict[str, bytes]:
    """The files in ``folder``, by ``bucket/key``."""
    if folder is None:
        return {}
    if not folder.is_dir():
        hint = "give a folder whose folders are the buckets"
        problem = Problem("CLI_FILE", "there is no such folder", hint=hint, file=str(folder))
        raise BadInput([problem])
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _unmocked(
    trouble: MockTrouble,
    document: WorkflowDocument,
    text: str,
    mocks: Any,
    options: WorkflowOptions,
) -> list[Problem]:
    """``trouble``; or every Task that nothing is mocked for: faults may lead to any of them."""
    known = read_mocks(mocks, document.machine)
    prefix = "/asl" if "asl" in json.loads(text) else ""
    found = asl.place(list(_never_mocked(document, known, prefix)), text, str(options.workflow))
    if found and trouble.code == "ASL_MOCK_MISSING":
        return found
    place = place_of_mocks(options.mocks) or str(options.workflow)
    return [Problem(trouble.code, trouble.message, hint=trouble.hint, file=place)]


def _never_mocked(document: WorkflowDocument, mocks: Mocks, prefix: str) -> Iterator[Problem]:
    for pointer, state in task_states(document.definition, prefix):
        name = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        # A Task of an agent may have none.
        resource = state.get("Resource", "")
        if not mocks.know(name, resource):
            about = f" (resource {resource})" if resource else ""
            message = f"nothing is mocked for the Task `{name}`{about}"
            example = json.dumps({"states": {name: {"return": {}}}}, ensure_ascii=False)
            hint = f"put this into the mocks file, with what it should answer: {example}"
            yield Problem("ASL_MOCK_MISSING", message, pointer, hint)


def _options(options: WorkflowOptions, given: Any) -> str:
    """What names the workflow on the command line; ``given`` is its input."""
    named: list[tuple[str, object]] = [
        ("--workflow", options.workflow),
        ("--input", json.dumps(given) if options.input == "-" else options.input),
        ("--mocks", options.mocks),
        *(("--invariant", text) for text in options.invariants),
        ("--invariants", options.invariants_file),
        ("--objects", options.objects),
    ]
    words = [word for name, value in named if value is not None for word in (name, str(value))]
    return f" {shlex.join(words)}"


def refuse_unmocked(verdicts: Sequence[Verdict], options: WorkflowOptions) -> None:
    """Raises BadInput where a fault led to Tasks that nothing is mocked for."""
    found: dict[str, Problem] = {}
    for verdict in verdicts:
        for problem in verdict.unmocked:
            hint = f"{problem.hint}; a fault leads there under seed {verdict.seed}"
            placed = replace(
                problem, hint=hint, file=place_of_mocks(options.mocks) or str(options.workflow)
            )
            found.setdefault(problem.message, placed)
    raise_all(list(found.values()))


def with_workflow(answer: Answer, world: WorkflowWorld) -> Answer:
    """``answer``, with what the interpreter says of the workflow."""
    expected = world.expectation()
    fields = {
        **answer.fields,
        "expected": expectation_json(expected),
        "invariants": dict(world.invariants),
    }
    show = [*answer.show, *expectation_lines(expected)]
    if world.invariants and answer.error is None:
        held = counted(len(world.invariants), "invariant was", "invariants were")
        show.append(f"{held} true of each run.")
    return replace(answer, fields=fields, show=show)


def expectation_lines(expected: Expectation) -> Iterator[str]:
    """How a run has to end, and what of that is left open, for people."""
    from dcf.simulation import Undecided

    if isinstance(expected.status, Undecided):
        yield "Time or chance decides how it ends: ends are not compared with the interpreter's."
        return
    error = f" ({expected.error})" if isinstance(expected.error, str) else ""
    yield f"The interpreter says: {expected.status}{error}."
    open_ = list(_undecided(expected.output, ""))
    if open_:
        yield f"Not compared, since time or chance decides it: {', '.join(open_)}"


def expectation_json(expected: Expectation) -> dict[str, Any]:
    """The same for scripts; ``undecided`` are JSON pointers into the execution."""
    whole = {name: getattr(expected, name) for name in ("status", "error", "cause", "output")}
    return {**_decided(whole), "undecided": list(_undecided(whole, ""))}


def _undecided(value: Any, pointer: str) -> Iterator[str]:
    from dcf.simulation import Undecided

    if isinstance(value, Undecided):
        yield pointer or "the output"
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _undecided(inner, pointer + _pointer(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _undecided(inner, f"{pointer}/{number}")


def _decided(value: Any) -> Any:
    """``value`` with null for what time or chance decides."""
    from dcf.simulation import Undecided

    if isinstance(value, dict):
        return {name: _decided(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_decided(inner) for inner in value]
    return None if isinstance(value, Undecided) else value
