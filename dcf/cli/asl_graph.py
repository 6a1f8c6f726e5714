"""``dcf asl graph``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.asl_file import name_of
from dcf.cli.input_source import read_text
from dcf.cli.output_file import check_outputs
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run_look import read_run_look
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import MOST_LISTED, BadInput, EnvironmentTrouble
from dcf.cli.wording import counted
from dcf.diagram import (
    Chart,
    Direction,
    NoPng,
    RunLook,
    all_nodes,
    arrange,
    read_chart,
    to_mermaid,
    to_png,
    to_svg,
)
from dcf.problem import Problem
from dcf_agents.installation import extra_command

Format = Literal["mermaid", "svg", "png"]
_BY_SUFFIX: dict[str, Format] = {
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".svg": "svg",
    ".png": "png",
}


@dataclass(frozen=True, slots=True)
class DrawingOptions:
    """``format`` None goes by the name of ``out``; without ``out`` the text is printed."""

    format: Format | None = None
    out: Path | None = None
    run: str | None = None
    direction: Direction = "down"


async def draw_file(
    file: Path, options: DrawingOptions, settings: Settings, screen: Screen
) -> Answer:
    """Draw the machine in ``file``. Raises BadInput where there is nothing to draw, or no place for
    the picture."""
    check_outputs({"--out": options.out}, {"the machine itself": file})
    format_ = _format(options)
    given = read_text(file)
    chart = read_chart(given.value)
    if given.value is None or not chart.machine.nodes:
        raise BadInput(given.problems or [_no_states(file)])
    problems = [*(str(problem) for problem in given.problems), *chart.problems]
    run = None
    if options.run is not None:
        run, differs = await _read_run(options.run, given.value, chart, settings, screen)
        problems += differs
    drawing = drawing_of(chart, format_, run, options.direction, name_of(file))
    for problem in problems[:MOST_LISTED]:
        screen.warn(problem)
    if len(problems) > MOST_LISTED:
        screen.warn(f"… and {len(problems) - MOST_LISTED:,} more; --json has all")
    fields: dict[str, Any] = {
        "format": format_,
        "states": sum(1 for _ in all_nodes(chart.machine)),
        "problems": problems,
    }
    if options.out is None:
        text = drawing.decode("utf-8")
        return Answer({**fields, "drawing": text}, [Text(text.rstrip("\n"))])
    write_drawing(options.out, drawing)
    said = f"{options.out}: {counted(fields['states'], 'state', 'states')} drawn"
    return Answer({**fields, "out": str(options.out)}, [Text(said)])


def write_drawing(out: Path, drawing: bytes) -> None:
    """Raises EnvironmentTrouble where it cannot be written."""
    try:
        out.write_bytes(drawing)
    except OSError as error:
        message = f"{out} cannot be written: {error.strerror or error}"
        hint = "give another --out, or make room and see to its rights"
        raise EnvironmentTrouble("not_written", message, hint) from error


def _format(options: DrawingOptions) -> Format:
    """What to draw. Raises BadInput where --out does not say it, or it cannot be printed."""
    if options.out is None:
        if options.format == "png":
            hint = "name the file: --out machine.png"
            raise BadInput([Problem("CLI_OUT", "a PNG cannot be printed", hint=hint, file="--out")])
        return options.format or "mermaid"
    return options.format or format_of(options.out, "or say --format svg, png or mermaid")


def format_of(out: Path, otherwise: str = "") -> Format:
    """What the name of ``out`` says is drawn. Raises BadInput, whose hint ends ``otherwise``."""
    format_ = _BY_SUFFIX.get(out.suffix.lower())
    if format_ is None:
        message = f"the name does not say what to draw: {out.suffix or 'it has no suffix'}"
        hint = ", ".join(filter(None, ("end it with .svg, .png or .mmd", otherwise)))
        raise BadInput([Problem("CLI_OUT", message, hint=hint, file=str(out))])
    return format_


async def _read_run(
    workflow_id: str, value: Any, chart: Chart, settings: Settings, screen: Screen
) -> tuple[RunLook, list[str]]:
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        stored = (await store.run(workflow_id)).definition
        pinned = await store.value(workflow_id, {"$blob": stored})
        look = await read_run_look(store, workflow_id, chart)
    same = _machine_of(pinned) == _machine_of(value)
    note = f"{workflow_id} runs another version of this definition: the picture is of the file"
    return look, [] if same else [note]


def _machine_of(document: Any) -> Any:
    return document.get("asl", document) if isinstance(document, dict) else document


def drawing_of(
    chart: Chart, format_: Format, run: RunLook | None, direction: Direction, name: str
) -> bytes:
    """``chart`` as a file of ``format_``. Raises EnvironmentTrouble where no PNG can be made."""
    if format_ == "mermaid":
        return to_mermaid(chart, run, direction).encode("utf-8")
    picture = arrange(chart, run, direction)
    title = (run.title if run else "") or chart.machine.title or name
    svg = to_svg(picture, title, run=run is not None)
    if format_ == "svg":
        return svg.encode("utf-8")
    try:
        return to_png(svg, picture)
    except NoPng as missing:
        hint = f"`{extra_command('png')}` installs that; --format svg needs nothing more"
        raise EnvironmentTrouble("no_png", f"PNG cannot be drawn: {missing}", hint) from missing


def _no_states(file: Path) -> Problem:
    hint = 'a machine has the form {"StartAt": …, "States": {…}}'
    return Problem("CLI_NO_STATES", "there are no states to draw", hint=hint, file=str(file))
