"""``dcf asl graph``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.input_source import read_text
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run_look import read_run_look
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble
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

Format = Literal["mermaid", "svg", "png"]
_BY_SUFFIX: dict[str, Format] = {".svg": "svg", ".png": "png"}


@dataclass(frozen=True, slots=True)
class Wish:
    """``format`` None goes by the name of ``out``; without ``out`` the text is printed."""

    format: Format | None = None
    out: Path | None = None
    run: str | None = None
    direction: Direction = "down"


async def draw_file(file: Path, wish: Wish, settings: Settings, screen: Screen) -> Answer:
    """Draw the machine in ``file``. Raises BadInput where there is nothing to draw."""
    given = read_text(file)
    chart = read_chart(given.value)
    if given.value is None or not chart.machine.nodes:
        raise BadInput(given.problems or [_no_states(file)])
    format_ = wish.format or _BY_SUFFIX.get(wish.out.suffix.lower() if wish.out else "", "mermaid")
    if format_ == "png" and wish.out is None:
        hint = "name the file: --out machine.png"
        raise BadInput([Problem("CLI_OUT", "a PNG cannot be printed", hint=hint, file="--out")])
    problems = [*(str(problem) for problem in given.problems), *chart.problems]
    run = None
    if wish.run is not None:
        run, differs = await _read_run(wish.run, given.value, chart, settings, screen)
        problems += differs
    drawing = _draw(chart, format_, run, wish.direction, file.stem)
    for problem in problems:
        screen.warn(problem)
    fields: dict[str, Any] = {
        "format": format_,
        "states": sum(1 for _ in all_nodes(chart.machine)),
        "problems": problems,
    }
    if wish.out is None:
        text = drawing.decode("utf-8")
        return Answer({**fields, "drawing": text}, [Text(text.rstrip("\n"))])
    wish.out.write_bytes(drawing)
    said = f"{wish.out}: {counted(fields['states'], 'state', 'states')} drawn"
    return Answer({**fields, "out": str(wish.out)}, [Text(said)])


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


def _draw(
    chart: Chart, format_: Format, run: RunLook | None, direction: Direction, name: str
) -> bytes:
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
        hint = "`pip install 'dcf[png]'`, or take --format svg, which needs nothing more"
        raise EnvironmentTrouble("no_png", f"PNG cannot be drawn: {missing}", hint) from missing


def _no_states(file: Path) -> Problem:
    hint = 'a machine has the form {"StartAt": …, "States": {…}}'
    return Problem("CLI_NO_STATES", "there are no states to draw", hint=hint, file=str(file))
