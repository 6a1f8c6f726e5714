"""The options that say which observations: declared once, for every command that takes them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.memory_options import (
    ConceptOption,
    ProjectOption,
    SinceOption,
    SourceIdOption,
    SourceOption,
    TurnOption,
    TypeOption,
    UntilOption,
    WorkflowOption,
)

if TYPE_CHECKING:
    from dcf.memory import ObservationChoice

_DAYS = {"metavar": "N", "min": 0, "max": 36_500, "help": "Of so many days."}
DaysOption = Annotated[int, typer.Option("--days", **_DAYS)]
AnyDaysOption = Annotated[int | None, typer.Option("--days", **_DAYS, show_default="all")]
PinnedOption = Annotated[
    bool, typer.Option("--pinned", help="Only those that are pinned, of all days.")
]
ThisProjectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--project",
        metavar="FOLDER",
        help="Only of this project; may be repeated.",
        show_default="this one",
    ),
]
TopicOption = Annotated[
    str | None,
    typer.Option(
        "--topic", metavar="TEXT", help="Only those in which search finds each of these words."
    ),
]
_CHOICE = "choice"
_LISTS = {
    "type_": "types",
    "concept": "concepts",
    "source": "sources",
    "source_id": "source_ids",
    "workflow": "workflows",
}
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "type_": (TypeOption, None),
    "concept": (ConceptOption, None),
    "source": (SourceOption, None),
    "source_id": (SourceIdOption, None),
    "turn": (TurnOption, None),
    "since": (SinceOption, None),
    "until": (UntilOption, None),
    "days": (DaysOption, 90),
    "project": (ProjectOption, None),
    "workflow": (WorkflowOption, None),
}
"""Type and default of each, in the order of the help."""


def choosing(
    *, but: Collection[str] = (), **other: tuple[Any, Any]
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Give a command, in the place of its parameter ``choice``, the options that say it: without
    those in ``but``, and with ``other`` ones (name to type and default) beside them or in their
    place."""
    options = {name: one for name, one in {**_OPTIONS, **other}.items() if name not in but}

    def made(function: Callable[..., Answer]) -> Callable[..., Answer]:
        @functools.wraps(function)
        def asked(**given: Any) -> Answer:
            said = {name: given.pop(name) for name in options}
            return function(**given, choice=_choice(said))

        # Typer reads the options from the signature and the annotations.
        hints = get_type_hints(function, localns={"ObservationChoice": object}, include_extras=True)
        parameters = [
            one
            for name, parameter in inspect.signature(function).parameters.items()
            for one in (_parameters(options) if name == _CHOICE else [parameter])
        ]
        annotations = {**hints, **{name: kind for name, (kind, _) in options.items()}}
        asked.__annotations__ = {k: v for k, v in annotations.items() if k != _CHOICE}
        asked.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                one.replace(
                    kind=inspect.Parameter.KEYWORD_ONLY, annotation=asked.__annotations__[one.name]
                )
                for one in parameters
            ],
            return_annotation=hints["return"],
        )
        return asked

    return made


def _parameters(options: dict[str, tuple[Any, Any]]) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, kind, default=one) for name, (_, one) in options.items()]


def _choice(said: dict[str, Any]) -> ObservationChoice:
    from dcf.memory import ObservationChoice

    lists: dict[str, Any] = {
        field: tuple(said.pop(name, None) or ()) for name, field in _LISTS.items()
    }
    folders = said.pop("project", None) or ()
    projects = tuple(str(Path(one).expanduser().resolve()) for one in folders)
    if said.pop("pinned", False):
        # However old they are.
        said |= {"pinned": True, "days": None}
    return ObservationChoice(projects=projects, **lists, **{"days": None, **said})
