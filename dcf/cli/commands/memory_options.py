"""What several commands of ``dcf memory`` take."""

from __future__ import annotations

from typing import Annotated

import typer

AgentArgument = Annotated[
    str,
    typer.Argument(metavar="AGENT", help="Name or id; @default is the agent of this project."),
]
AgentOrDefault = Annotated[
    str, typer.Argument(metavar="[AGENT]", help="Name or id.", show_default="that of this project")
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why, for the history.")]
SureOption = Annotated[
    bool, typer.Option("--yes", help="Do not ask; needed where nobody can be asked.")
]

DescriptionOption = Annotated[
    str | None, typer.Option("--description", help="What the agent is for.")
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Its model, as in DCF_MODEL; an empty one is what the settings say.",
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option("--embedder", metavar="NAME", help="Its embedder; empty as with --model."),
]
SystemOption = Annotated[
    str | None,
    typer.Option("--system", metavar="FILE|-", help="File with its instructions."),
]
WindowOption = Annotated[
    int | None,
    typer.Option("--context-window", metavar="TOKENS", min=1, help="Room for what it sees."),
]
ParallelOption = Annotated[
    bool | None,
    typer.Option("--parallel-tool-calls/--no-parallel-tool-calls", help="Several tools at a time."),
]
SleeptimeOption = Annotated[
    bool | None,
    typer.Option("--sleeptime/--no-sleeptime", help="Consolidate its memory while it rests."),
]

TypeOption = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Only this type; may be repeated."),
]
ConceptOption = Annotated[
    list[str] | None,
    typer.Option("--concept", metavar="CONCEPT", help="Only about this; may be repeated."),
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="KIND", help="Only from this kind of source, as in run."),
]
SourceIdOption = Annotated[
    list[str] | None,
    typer.Option("--source-id", metavar="ID", help="Only what this run or thread showed."),
]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Not older; instead of --days.")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Not newer, with that day.")
]
ProjectOption = Annotated[
    list[str] | None,
    typer.Option("--project", metavar="FOLDER", help="Only of this project; may be repeated."),
]
WorkflowOption = Annotated[
    list[str] | None,
    typer.Option("--workflow", metavar="NAME", help="Only of this workflow; may be repeated."),
]
TurnOption = Annotated[
    int | None, typer.Option("--turn", metavar="N", min=0, help="Only of this turn.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")]
