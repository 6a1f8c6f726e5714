"""``dcf plan``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.drafted import drafted_answer, next_commands
from dcf.cli.drift import FOLLOWING, Followed, Following, follow
from dcf.cli.exits import BAD_INPUT, FAILED
from dcf.cli.generated_skills import demand_generated
from dcf.cli.input_source import read_text
from dcf.cli.output_file import check_outputs
from dcf.cli.plan_steps import plan_steps
from dcf.cli.runbook import (
    NOTHING_SAID,
    Answering,
    draft_fields,
    draft_lines,
    parsed,
    read_draft,
    runbook_in,
)
from dcf.cli.runbook_commands import write_command_skill
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble, listed, summary
from dcf.cli.wording import counted
from dcf.problem import Problem, has_errors

if TYPE_CHECKING:
    from dcf.planner import Bench, Guidance, Guide, Plan, PlannedDraft
    from dcf.sop import Draft, Sop


@dataclass(frozen=True, slots=True)
class CompilingOptions:
    """Where the workflow, its picture and drafts of missing skills go; None for nowhere.
    ``generated`` is the folder of the skills to choose from. ``strict``: the procedure has to be in
    our own form, and each of its steps needs a skill. ``answering`` is what is said to questions
    about one that is not; ``following`` what is said to changes of the workflow in ``out``;
    ``bind`` has the values that arguments of steps take, by ``STEP.ARGUMENT``. ``commands``: what
    stands in it as a plain argument list becomes a task of a skill that may run it."""

    out: Path | None
    picture: Path | None
    drafts: Path | None
    generated: Path
    strict: bool = False
    answering: Answering = NOTHING_SAID
    following: Following = FOLLOWING
    bind: Mapping[str, str] = field(default_factory=dict)
    commands: bool = False


def only_one(
    objective: str | None,
    resume: str | None,
    from_sop: Path | None,
    decompile: Path | None,
    *,
    asks: bool,
) -> None:
    """Raises BadInput unless one thing is asked for; with ``asks`` the objective is asked."""
    given = [one for one in (resume, from_sop, decompile) if one is not None]
    alone = objective is not None and resume is None and bool(given)
    if len(given) > 1 or alone or (objective is None and not given and not asks):
        message = "say what to plan: one of an objective, --resume, --from-sop and --decompile"
        hint = '`dcf plan "refund a customer"` or `dcf plan --from-sop refund.md --out refund.json`'
        raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="dcf plan")])


def alone_only(drafts: Path | None) -> None:
    """Raises BadInput for what only compiling a file can do."""
    if drafts is not None:
        message, hint = "--drafts goes with --from-sop alone", "leave --run out, or --drafts"
        raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="dcf plan")])


def beginning_only(resume: str | None) -> None:
    """Raises BadInput where a planning that began already is told to explore, or not to."""
    if resume is not None:
        message = f"planning {resume} keeps to what it began with"
        hint = "give it with the objective, or with --from-sop"
        raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="--explore")])


def compile_file(
    file: Path, options: CompilingOptions, settings: Settings, screen: Screen
) -> Answer:
    """Compile the procedure in ``file``, by what earlier runs taught. Nothing is written where it
    has problems, but drafts."""
    check_outputs({"--out": options.out, "--picture": options.picture}, {"the procedure": file})
    _check_picture(options.picture)
    options.following.check(options.out)
    chosen_from = replace(settings, generated=options.generated)
    desk = _open_desk(chosen_from, screen)
    draft, noted = _read(file, options, desk.bench, screen)
    offered = None
    if options.commands:
        draft, offered = asyncio.run(desk.bench.with_commands(draft))
    if any(one.kind == "task" for one in draft.sop.all_steps()):
        demand_generated(options.generated)
    before = draft.sop
    planned, guidance = asyncio.run(_planned(desk, draft, options, settings, screen))
    draft, plan = planned.draft, planned.plan
    problems = [*noted, *(one.at(file=str(file)) for one in planned.problems)]
    fields: dict[str, Any] = {
        "problems": [one.to_dict() for one in problems],
        **plan.to_json(),
        "guidance": guidance.to_json(),
    }
    told: list[str] = []
    if not options.strict:
        drafted = draft_fields(draft, fields["steps"])
        is_told = not draft.exact or draft.questions or draft.sop != before
        told = list(draft_lines(draft, drafted)) if is_told else []
        by_number = {step["number"]: step for step in drafted["steps"]}
        drafted["steps"] = [{**by_number[one["step"]], **one} for one in fields["steps"]]
        fields |= {**drafted, "validates": plan.document is not None, "commands_run_unasked": 0}
    if offered is not None:
        fields["commands"] = offered.to_json()
        told += offered.report()
    missing = {gap.step.number for gap in plan.gaps}
    shown: list[Any] = [plan_steps(fields["steps"], missing), *told]
    written = _write_drafts(plan, options) if plan.gaps and options.drafts else []
    if written and options.drafts:
        fields["drafts"] = written
        shown += [f"wrote {name}" for name in written]
        targets = {"--out": options.out, "--picture": options.picture}
        usual = settings.generated
        commands = next_commands(file, options.drafts, options.generated, usual, targets)
        unwritten = [path for path in targets.values() if path is not None]
        return drafted_answer(fields, shown, problems, commands, unwritten)
    if offered is not None and (lacking := offered.not_covered()):
        if options.drafts is not None:
            targets = {"--out": options.out, "--picture": options.picture}
            following = next_commands(
                file, options.drafts, options.generated, settings.generated, targets
            )
            return write_command_skill(
                offered,
                options.drafts,
                options.generated,
                fields,
                shown,
                [*following[:-1], f"{following[-1]} --commands"],
                [path for path in targets.values() if path is not None],
            )
        problems.append(lacking.at(file=str(file)))
    if plan.document is None:
        note = ErrorNote("bad_input", summary(problems), details=listed(problems))
        return Answer(fields, shown, status="error", error=note, exit_code=BAD_INPUT)
    for problem in problems:
        screen.warn(str(problem))
    for said in guidance.notes:
        screen.say(said)
    shown += [_reads(name, path) for name, path in options.bind.items()]
    followed = _followed(plan.document, file, options, desk, screen, explores=settings.explore)
    shown += followed.shown
    fields |= followed.fields
    if followed.refused is not None:
        return Answer(fields, shown, status="error", error=followed.refused, exit_code=FAILED)
    if not options.following.shows_only:
        shown += _write(followed.document, options, fields)
    shown.append(_risk(plan))
    if options.out is None:
        out = file.with_suffix(".json").name
        shown.append(f"the workflow was not written: --out {out}")
    return Answer(fields, shown)


def _followed(
    document: dict[str, Any],
    file: Path,
    options: CompilingOptions,
    desk: _Desk,
    screen: Screen,
    *,
    explores: bool,
) -> Followed:
    """``document``, or the workflow that is there already with what changes in it."""
    if options.out is None or not options.following.is_due(options.out):
        return Followed(document)

    async def compiled(old: Sop) -> Plan:
        guidance = await _consulted(desk.guide, old, explores=explores)
        return await desk.bench.compile(old, guidance, desk.guide)

    def compile_(old: Sop) -> Plan:
        return asyncio.run(compiled(old))

    return follow(file, options.out, options.following, document, compile_, screen)


@dataclass(frozen=True, slots=True)
class _Desk:
    """What a file is compiled with."""

    bench: Bench
    guide: Guide


def _open_desk(settings: Settings, screen: Screen) -> _Desk:
    from dcf.cli.planner.desk import open_bench, open_guide

    return _Desk(open_bench(settings, needs_skills=False), open_guide(settings, screen))


def _read(
    file: Path, options: CompilingOptions, bench: Bench, screen: Screen
) -> tuple[Draft, Sequence[Problem]]:
    """What is to be planned, and what is to be said of a procedure in our own form."""
    from dcf.sop import Draft

    if options.strict:
        sop, noted = read_sop(file)
        return Draft(sop, (), exact=True), noted
    source = runbook_in(file)
    draft, _ = asyncio.run(read_draft(source, file, options.answering, screen, bench.draft))
    return draft, parsed_warnings(file) if draft.exact else ()


async def _planned(
    desk: _Desk, draft: Draft, options: CompilingOptions, settings: Settings, screen: Screen
) -> tuple[PlannedDraft, Guidance]:
    """The plan of ``draft``, and the advice that it follows."""
    guidance = await _consulted(desk.guide, draft.sop, explores=settings.explore)
    with screen.working("choosing skills"):
        if options.drafts is not None and not options.commands:
            draft = await desk.bench.open_to_drafts(draft)
        people = options.drafts is None and not options.strict
        planned = await desk.bench.plan(draft, guidance, desk.guide, options.bind, people=people)
    if planned.plan.document is not None and has_errors(planned.problems):
        raise BadInput([one for one in planned.problems if one.is_error])
    return planned, guidance


async def _consulted(guide: Guide, sop: Sop, *, explores: bool) -> Guidance:
    """The advice for ``sop``. What is explored is drawn by the procedure itself: the same one, with
    the same measures, takes the same versions."""
    from dcf.sop import print_markdown

    seed = sha256(print_markdown(sop).encode()).hexdigest()[:12]
    return await guide.consult(seed if explores else None)


def decompile_file(file: Path, out: Path | None, form: str) -> Answer:
    """Tell the workflow in ``file`` as a procedure."""
    from dcf.planner import decompile
    from dcf.sop import print_markdown, print_yaml
    from dcf.workflow import validate

    check_outputs({"--out": out}, {"the workflow": file})
    given = read_text(file)
    if given.value is None:
        raise BadInput(given.problems)
    problems = given.place(validate(given.value))
    if has_errors(problems):
        raise BadInput(problems)
    found = decompile(given.value)
    text = print_yaml(found.sop) if form == "yaml" else print_markdown(found.sop)
    steps = sum(1 for _ in found.sop.all_steps())
    fields: dict[str, Any] = {"origin": found.origin, "steps": steps, "sop": text}
    if out is None:
        return Answer(fields, [_plain(text.rstrip("\n"))])
    store(out, text.encode())
    shown = [f"{out}: {counted(steps, 'step', 'steps')}, {found.origin}"]
    if found.origin == "foreign":
        shown.append(f"A beginning: `dcf sop check {out}` says what is to be mended.")
    return Answer({**fields, "out": str(out)}, shown)


def parsed_warnings(file: Path) -> Sequence[Problem]:
    """What is to be said of a procedure in our own form."""
    # Its errors, if there are some, are questions of its draft.
    return [one for one in parsed(runbook_in(file)).problems if not one.is_error]


def read_sop(file: Path) -> tuple[Sop, Sequence[Problem]]:
    """The procedure in ``file``, and what is to be said of it. Raises BadInput with every problem,
    by line."""
    reading = parsed(runbook_in(file))
    if reading.sop is None:
        raise BadInput(reading.problems)
    return reading.sop, reading.problems


def _write(
    document: dict[str, Any], options: CompilingOptions, fields: dict[str, Any]
) -> list[str]:
    shown = []
    if options.picture is not None:
        store(options.picture, _drawn(document, options.picture))
        fields["picture"] = str(options.picture)
        shown.append(f"{options.picture}: drawn")
    if options.out is not None:
        write_workflow(options.out, document)
        fields["out"] = str(options.out)
        shown.append(f"{options.out}: written, validated without errors")
    return shown


def write_workflow(out: Path, document: dict[str, Any]) -> None:
    """Write the workflow into ``out``. Raises EnvironmentTrouble."""
    store(out, (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode())


def draw_into(picture: Path, document: dict[str, Any]) -> None:
    """Draw the workflow into ``picture``. Raises BadInput, EnvironmentTrouble."""
    _check_picture(picture)
    store(picture, _drawn(document, picture))


def _write_drafts(plan: Plan, options: CompilingOptions) -> list[str]:
    from dcf.planner import write_drafts

    assert options.drafts is not None
    made = write_drafts(options.drafts, options.generated, plan.gaps)
    if made.problems:
        raise BadInput(made.problems)
    return [str(options.drafts / name) for name in (*made.written, *made.extended)]


def _reads(name: str, path: str) -> str:
    """What to add to the procedure, so that a binding need not be said again."""
    from dcf.planner import reads_text

    step, _, argument = name.rpartition(".")
    return f"to keep it, add to step {step}: - Reads: {reads_text(path, argument)}"


def _risk(plan: Plan) -> str:
    risk = plan.risk
    parts = [f"risk {risk.level}", f"egress {risk.egress}", f"highest tier {risk.tier}"]
    parts.append(f"about {risk.tokens:,} tokens of skills")
    parts.append(f"secrets {', '.join(risk.secrets) or 'none'}")
    if risk.approvals:
        parts.append(f"approval in step {', '.join(risk.approvals)}")
    return "; ".join(parts)


def _check_picture(picture: Path | None) -> None:
    if picture is not None and picture.suffix.lower() not in (".svg", ".png", ".mmd"):
        hint = "end it with .svg, .png or .mmd"
        message = "the name does not say what to draw"
        raise BadInput([Problem("CLI_OUT", message, hint=hint, file=str(picture))])


def _drawn(document: dict[str, Any], picture: Path) -> bytes:
    from dcf.diagram import NoPng, arrange, read_chart, to_mermaid, to_png, to_svg

    chart = read_chart(document)
    suffix = picture.suffix.lower()
    if suffix == ".mmd":
        return to_mermaid(chart).encode()
    arranged = arrange(chart)
    svg = to_svg(arranged, chart.machine.title)
    if suffix == ".svg":
        return svg.encode()
    try:
        return to_png(svg, arranged)
    except NoPng as missing:
        hint = "draw an .svg, which needs nothing more"
        raise EnvironmentTrouble("no_png", f"PNG cannot be drawn: {missing}", hint) from missing


def store(out: Path, content: bytes) -> None:
    """Write ``content`` into ``out``. Raises EnvironmentTrouble."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(content)
    except OSError as error:
        message = f"{out} cannot be written: {error.strerror or error}"
        hint = "give another file, or make room and see to its rights"
        raise EnvironmentTrouble("not_written", message, hint) from error


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
