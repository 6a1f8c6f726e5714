"""``dcf sop show --against``: a procedure beside a workflow."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.cli.answer import Answer
from dcf.cli.input_source import read_text
from dcf.cli.output_file import check_outputs
from dcf.cli.planning import store
from dcf.cli.runbook import NOTHING_SAID, read_draft, runbook_in
from dcf.cli.screen import Screen
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.problem import Problem, has_errors

if TYPE_CHECKING:
    from dcf.planner import Part, SideBySide

_PICTURES = (".svg", ".png")
_WRONG = "bold red"


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the page and the picture go; None for nowhere."""

    html: Path | None
    picture: Path | None

    def need_none(self) -> None:
        """Raises BadInput for an output without a workflow to compare with."""
        given = {"--html": self.html, "--picture": self.picture}
        for option, file in given.items():
            if file is not None:
                message = f"{option} shows a procedure beside a workflow"
                hint = "say which one: --against workflow.json"
                raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="dcf sop show")])


def show_beside(file: Path, workflow: Path, outputs: Outputs) -> Answer:
    """Each sentence of ``file`` beside the states that it became in ``workflow``."""
    from dcf.planner import ORIGIN, page_of, side_by_side, summary
    from dcf.workflow import validate

    read = {"the procedure": file, "the workflow": workflow}
    check_outputs({"--html": outputs.html, "--picture": outputs.picture}, read)
    _check_picture(outputs.picture)
    draft, _ = asyncio.run(read_draft(runbook_in(file), file, NOTHING_SAID, Screen(as_json=True)))
    given = read_text(workflow)
    if given.value is None:
        raise BadInput(given.problems)
    problems = given.place(validate(given.value))
    if has_errors(problems):
        raise BadInput(problems)
    found = side_by_side(draft, given.value)
    fields: dict[str, Any] = found.to_json()
    shown: list[Any] = [*summary(found), ORIGIN[found.origin], _table(found)]
    if outputs.html is not None:
        page = page_of(found, given.value, str(file), str(workflow))
        store(outputs.html, page.encode())
        fields["html"] = str(outputs.html)
        shown.append(f"wrote {outputs.html}")
    if outputs.picture is not None:
        store(outputs.picture, _drawn(found, outputs.picture))
        fields["picture"] = str(outputs.picture)
        shown.append(f"{outputs.picture}: drawn")
    return Answer(fields, shown)


def _check_picture(picture: Path | None) -> None:
    if picture is not None and picture.suffix.lower() not in _PICTURES:
        message = "the name does not say what to draw"
        hint = "end it with .svg or .png"
        raise BadInput([Problem("CLI_OUT", message, hint=hint, file=str(picture))])


def _drawn(found: SideBySide, picture: Path) -> bytes:
    from dcf.diagram import NoPng, to_png
    from dcf.planner import picture_of

    svg, size = picture_of(found)
    if picture.suffix.lower() == ".svg":
        return svg.encode()
    try:
        return to_png(svg, size)
    except NoPng as missing:
        hint = "draw an .svg, which needs nothing more"
        raise EnvironmentTrouble(
            "no_png", f"PNG cannot be drawn here: {missing}", hint
        ) from missing


def _table(found: SideBySide) -> Any:
    """A row for each sentence; the states of a step stand beside its first one."""
    from rich.table import Table
    from rich.text import Text

    from dcf.planner import PLACE, lines_of

    table = Table()
    table.add_column("line", justify="right", no_wrap=True)
    for heading in ("sentence", "place", "step", "states"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "step")
    for part in found.parts:
        beside = Text("\n").join(_beside(part))
        for at, one in enumerate(part.sentences):
            style = _WRONG if part.is_open(one) else ""
            table.add_row(
                lines_of(one),
                Text(one.text, style),
                Text(PLACE[one.place], style or "dim"),
                Text(part.step or "", "bold") if not at else "",
                beside if not at else "",
                end_section=at == len(part.sentences) - 1,
            )
    for state in found.loose:
        table.add_row("", Text("no sentence", _WRONG), "", "", Text(state.name, _WRONG))
    for state in found.frame:
        table.add_row("", Text("the whole procedure", "dim"), "", "", state.name)
    return table


def _beside(part: Part) -> Iterator[Any]:
    """A line for each state of ``part``, or what stands in their place."""
    from rich.text import Text

    from dcf.planner import where

    for one in part.states:
        edited = (" edited by hand", "yellow") if one.edited else ""
        yield Text.assemble(one.name, (f" {one.type}", "dim"), edited)
    if not part.states:
        yield Text(where(part), _WRONG if any(map(part.is_open, part.sentences)) else "dim")
