"""``sop``: standard operating procedures in Markdown and YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, OK

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A procedure in Markdown or YAML.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write it here.", show_default="stdout")
]


def register(app: typer.Typer) -> None:
    """Add the group ``sop`` with its commands."""
    sop = typer.Typer(
        help="Standard operating procedures: write, check, convert.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    exits = (OK, BAD_INPUT)
    command(sop, "new", example='dcf sop new "Refund a customer"', exits=exits)(new)
    command(sop, "check", example="dcf sop check workflows/sops/*.md", exits=exits)(check)
    command(sop, "show", example="dcf sop show refund-a-customer.md", exits=exits)(show)
    command(
        sop,
        "convert",
        example="dcf sop convert refund-a-customer.md --to yaml --out refund.yaml",
        exits=exits,
    )(convert)
    command(sop, "schema", example="dcf sop schema --out sop.schema.json", exits=exits)(schema)
    app.add_typer(sop, name="sop")


def new(
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help="What the procedure does, in words.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write it here.", show_default="from the title, .md"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Write a procedure to start from.

    It has no problems yet, and shows what steps can say. --out with a name that ends in .yaml gives
    the YAML form. A file that is there is never written over.
    """
    from dcf.cli.sop import write_new

    return write_new(title, out)


def check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Procedures in Markdown or YAML.")
    ],
    as_json: JsonOption = False,
) -> Answer:
    """Check procedures.

    Every problem at once, with its line, the rule and how to mend it: jumps to steps that are not
    there, steps that nothing leads to, values that nobody wrote, phrases that cannot be read.
    Warnings alone exit with 0.
    """
    from dcf.cli.sop import check_files

    return check_files(files)


def show(
    file: FileArgument,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="WORKFLOW", help="Show each sentence beside its states in this."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write that as a page.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw that: .svg or .png.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show a procedure as it is understood.

    Its limits, rules and roles; its steps with their kinds, who does them with what, how long they
    may take, what is tried again, and where they go on. With --against each sentence stands beside
    the states that it became, and what has no counterpart is marked.
    """
    from dcf.cli.side_by_side import Outputs, show_beside
    from dcf.cli.sop import show_file

    outputs = Outputs(html, picture)
    if against is not None:
        return show_beside(file, against, outputs)
    outputs.need_none()
    return show_file(file)


def convert(
    file: FileArgument,
    to: Annotated[Literal["yaml", "markdown"], typer.Option("--to", help="The form to write.")],
    out: OutOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Write a procedure in the other form.

    What is written means the same, step by step; comments are lost.
    """
    from dcf.cli.sop import convert_file

    return convert_file(file, to, out)


def schema(out: OutOption = None, as_json: JsonOption = False) -> Answer:
    """Write the JSON Schema of the YAML form, for editors.

    An editor with the YAML extension then completes members, and marks what is wrong, in a file
    whose first line is: # yaml-language-server: $schema=sop.schema.json
    """
    from dcf.cli.sop import write_schema

    return write_schema(out)
