"""``dcf sop``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT
from dcf.cli.output_file import check_outputs
from dcf.cli.runbook import draft_fields, draft_lines, kept_answers, parsed, runbook_in
from dcf.cli.trouble import MOST_LISTED, BadInput, summary
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.sop import (
    CONTINUE,
    Form,
    Reading,
    Sop,
    Source,
    Step,
    form_of,
    new_sop,
    parse,
    print_budget,
    print_choices,
    print_condition,
    print_direction,
    print_duration,
    print_join,
    print_loop,
    print_markdown,
    print_retry,
    print_type,
    print_wait,
    print_yaml,
    schema_text,
    to_data,
)

_SHOWN = 100
"""Characters of a source line."""


def check_files(files: Sequence[Path]) -> Answer:
    """Check each file; warnings alone are no failure."""
    readings = [_checked(file) for file in files]
    problems = [problem for reading, _ in readings for problem in reading.problems]
    listing = [line for reading, text in readings for line in _listed(reading.problems, text)]
    errors = sum(problem.is_error for problem in problems)
    warnings = len(problems) - errors
    fields = {
        "errors": errors,
        "warnings": warnings,
        "problems": [problem.to_dict() for problem in problems],
    }
    if errors:
        note = ErrorNote("bad_input", summary(problems), details=tuple(listing))
        return Answer(fields, status="error", error=note, exit_code=BAD_INPUT)
    found = counted(warnings, "warning", "warnings")
    done = f"{counted(len(files), 'procedure', 'procedures')} checked: no errors, {found}"
    return Answer(fields, [_plain("\n".join([*listing, done]))])


def show_file(file: Path) -> Answer:
    """The procedure in ``file`` as it is understood; the draft of one that is not in our own form.
    Its problems where there is none."""
    source = runbook_in(file)
    reading, text = parsed(source), source.text
    if reading.sop is None:
        return _drafted(file, reading, source)
    fields = {
        "sop": to_data(reading.sop),
        "problems": [problem.to_dict() for problem in reading.problems],
    }
    lines = [*_overview(reading.sop), *_listed(reading.problems, text)]
    return Answer(fields, [_plain("\n".join(lines))])


def _drafted(file: Path, reading: Reading, source: Source) -> Answer:
    """What ``dcf plan --from-sop`` takes a runbook of strangers for."""
    from dcf.sop import NoDraft, draft_of

    kept = kept_answers(file)
    try:
        found = draft_of(source, kept)
    except NoDraft as refused:
        return _refused(Reading(None, refused.problems or reading.problems), source.text)
    fields = draft_fields(found)
    lines = [*_overview(found.sop), *_listed(found.problems, ""), *draft_lines(found, fields)]
    problems = [one.to_dict() for one in found.problems]
    shown = {"sop": to_data(found.sop), "problems": problems, **fields}
    return Answer(shown, [_plain("\n".join(lines))])


def convert_file(file: Path, to: Form, out: Path | None) -> Answer:
    """The procedure in ``file`` in the form ``to``; its problems when it has errors."""
    check_outputs({"--out": out}, {"the procedure itself": file})
    reading, text = _checked(file)
    if reading.sop is None:
        return _refused(reading, text)
    written = _printed(reading.sop, to)
    if out is None:
        return Answer({"to": to, "text": written}, [_plain(written.rstrip("\n"))])
    _write(out, written)
    return Answer({"to": to, "written": str(out)}, [f"wrote {out}"])


def write_schema(out: Path | None) -> Answer:
    """The JSON Schema of the YAML form, which changes with DCF: a file that is there is written
    over."""
    check_outputs({"--out": out}, {})
    text = schema_text()
    if out is None:
        return Answer({"schema": json.loads(text)}, [_plain(text.rstrip("\n"))])
    _write(out, text)
    line = f"# yaml-language-server: $schema={out}"
    return Answer(
        {"written": str(out)}, [f"wrote {out}", f"first line of a procedure in this folder: {line}"]
    )


def write_new(title: str, out: Path | None) -> Answer:
    """A procedure to start from, in a file that is not there yet."""
    named = re.fullmatch(r"(\S+)\.(?:ya?ml|md|markdown)", title.strip())
    if named is not None:
        words = re.sub(r"[-_./\\]+", " ", named[1]).strip().capitalize()
        hint = f'dcf sop new "{words}" --out {title.strip()}'
        message = "this is the name of a file, and no title"
        raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="TITLE")])
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    if not title.strip() or (out is None and not slug):
        hint = 'say what is done: dcf sop new "Refund a customer"'
        raise BadInput([Problem("CLI_USAGE", "the title says nothing", hint=hint, file="TITLE")])
    file = out or Path(f"{slug}.md")
    if file.exists():
        hint = "choose another name with --out"
        raise BadInput([Problem("CLI_OUT", "the file is there already", hint=hint, file=str(file))])
    text = _printed(new_sop(title), form_of(str(file)))
    problems = parse(text, str(file)).problems
    if problems:
        raise BadInput(problems)
    _write(file, text)
    show = [f"wrote {file}", f"next: edit it, then `dcf sop check {file}`"]
    return Answer({"written": str(file)}, show)


def _checked(file: Path) -> tuple[Reading, str]:
    """What is in ``file``, and its text for showing lines."""
    try:
        source = runbook_in(file)
    except BadInput as unreadable:
        return Reading(None, unreadable.problems), ""
    return parsed(source), source.text


def _printed(sop: Sop, form: Form) -> str:
    return print_yaml(sop) if form == "yaml" else print_markdown(sop)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _refused(reading: Reading, text: str) -> Answer:
    problems = reading.problems
    listing = tuple(_listed(problems, text))
    note = ErrorNote("bad_input", summary(problems), details=listing)
    fields = {"problems": [problem.to_dict() for problem in problems]}
    return Answer(fields, status="error", error=note, exit_code=BAD_INPUT)


def _listed(problems: Sequence[Problem], text: str) -> Iterator[str]:
    """The problems of one file, each with the line that it is about."""
    lines = re.split(r"\r\n|\r|\n", text)
    for problem in problems[:MOST_LISTED]:
        said, _, hint = str(problem).partition("\n    hint: ")
        yield said
        if problem.line and problem.line <= len(lines) and lines[problem.line - 1].strip():
            source = lines[problem.line - 1].expandtabs(4).rstrip()
            shown = source if len(source) <= _SHOWN else f"{source[: _SHOWN - 1]}…"
            yield f"  {problem.line:>5} | {shown}"
        if hint:
            yield f"    hint: {hint}"
    if len(problems) > MOST_LISTED:
        yield f"… and {len(problems) - MOST_LISTED:,} more; --json has all"


def _overview(sop: Sop) -> Iterator[str]:
    yield sop.title
    yield f"  {sop.objective}".replace("\n", "\n  ")
    for name, values in (("inputs", sop.inputs), ("outputs", sop.outputs)):
        if values:
            yield f"{name}: " + ", ".join(
                f"{one.name} ({print_type(one.type, one.items)})" for one in values
            )
    if sop.deadline is not None:
        yield f"whole run: within {print_duration(sop.deadline)}"
    if sop.budget is not None:
        yield f"whole run: budget {print_budget(sop.budget)}"
    yield from (f"rule: {one.text}" for one in sop.guardrails)
    for role in sop.roles:
        yield f"role: {role.name}" + (f", {role.description}" if role.description else "")
    for step in sop.all_steps():
        margin = "  " * step.number.count(".")
        yield f"{margin}{step.number:<4} {step.kind:<9} {step.title}"
        yield from (f"{margin}{'':<15}{line}" for line in _details(step))


def _details(step: Step) -> Iterator[str]:
    yield from _conduct(step)
    for lane in step.lanes:
        numbers = ", ".join(one.number for one in lane.steps)
        yield f"at the same time: {f'{lane.title}, ' if lane.title else ''}step {numbers}"
    yield from (f"keep {print_join(one)}" for one in step.joins)
    for handler in step.handlers:
        when = ", ".join(handler.errors) or "any failure"
        yield f"on {when}: {print_direction(handler.then)}"
    for branch in step.branches:
        yield f"if {print_condition(branch.condition)}: {print_direction(branch.then)}"
    if step.branches:
        yield f"otherwise {print_direction(step.then)}"
    elif step.then != CONTINUE:
        yield f"then {print_direction(step.then)}"


def _conduct(step: Step) -> Iterator[str]:
    """Who does it, with what, and how long it may take."""
    if step.loop is not None:
        yield print_loop(step.loop)
    if step.wait is not None:
        yield f"wait {print_wait(step.wait)}"
    if step.approval is not None:
        yield f"approval by {', '.join(step.approval.by) or 'anybody'}"
    if step.choices:
        yield f"choices {print_choices(step.choices)}"
    if step.role is not None:
        yield f"role {step.role}"
    if step.skills:
        yield f"skill {', '.join(step.skills)}"
    if step.reads:
        yield f"reads {', '.join(_transfer(one.source, one.target) for one in step.reads)}"
    if step.writes:
        yield f"writes {', '.join(_transfer(one.source, one.target) for one in step.writes)}"
    for retry in step.retries:
        yield f"retry {print_retry(retry)}"
    if step.deadline is not None:
        yield f"within {print_duration(step.deadline)}"
    if step.tier is not None:
        yield f"tier {step.tier}"
    if step.budget is not None:
        yield f"budget {print_budget(step.budget)}"


def _transfer(source: str, target: str) -> str:
    return source if source == target else f"{source} as {target}"


def _plain(text: str) -> object:
    from rich.text import Text

    return Text(text)
