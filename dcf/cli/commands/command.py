"""How every command is declared: one summary, an example, its exit codes, ``--json``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from dcf.cli.answer import Answer
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, MEANING, OK

_POOL = re.compile(r"[A-Za-z0-9_-]{1,64}")

Command = TypeVar("Command", bound=Callable[..., Answer])

JsonOption = Annotated[
    bool,
    typer.Option("--json", help="One JSON document on stdout; text for people goes to stderr."),
]
InputOption = Annotated[
    str | None,
    typer.Option("--input", metavar="FILE|JSON|-", help="Input of the run.", show_default="{}"),
]
IdOption = Annotated[
    str | None,
    typer.Option("--id", metavar="ID", help="Id of the run.", show_default="<name>-<8 hex>"),
]
RunsOption = Annotated[Path, typer.Option("--runs", metavar="DIR", help="Where audit trails go.")]


def _pool(given: str | None) -> str | None:
    """``given``, if it can be part of a key."""
    if given is not None and not _POOL.fullmatch(given):
        raise typer.BadParameter(f"{given!r} is no pool: 1 to 64 characters of A-Z a-z 0-9 _ -")
    return given


PoolOption = Annotated[str, typer.Option("--pool", help="The pool of workers.", callback=_pool)]
AnyPoolOption = Annotated[
    str | None,
    typer.Option(
        "--pool",
        help="The pool of workers.",
        show_default="default, those of `dcf up` and of runs that are under way",
        callback=_pool,
    ),
]
RunPoolOption = Annotated[
    str | None,
    typer.Option(
        "--pool",
        help="The pool of workers.",
        show_default="default if workers with these skills read it, else one of its own",
        callback=_pool,
    ),
]
LeaseOption = Annotated[
    float,
    typer.Option("--lease-ttl", metavar="SECONDS", min=0.2, help="How long a lease lasts."),
]
RunArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the run.")]

DEFAULT_RUNS = Path("workflows/runs")
DEFAULT_LEASE_S = 30.0
DEFAULT_POOL = "default"


def command(
    app: typer.Typer,
    name: str,
    *,
    example: str | Sequence[str],
    exits: Sequence[int] = (OK, FAILED, BAD_INPUT, ENVIRONMENT),
    prose: bool = False,
) -> Callable[[Command], Command]:
    """Register a function as command ``name``; its docstring is the help, the first line the
    summary. ``prose``: an argument is what people write, and may begin with a dash."""
    settings = {"ignore_unknown_options": prose}
    return app.command(name, epilog=epilog(example, exits), context_settings=settings)


def epilog(example: str | Sequence[str], exits: Sequence[int]) -> str:
    """What every help ends with."""
    examples = [example] if isinstance(example, str) else example
    lines = ["\b", "Example:", *(f"  {line}" for line in examples), "", "\b", "Exit codes:"]
    lines += [f"  {code:<3} {MEANING[code]}" for code in exits]
    return "\n".join(lines)
