"""``retrieval``: what was logged about a project and its code, together."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK

HookTask = Literal["failures", "context"]

if TYPE_CHECKING:
    from dcf.cli.retrieval.setting import RetrievalSetting
    from dcf.cli.settings import Settings

_EXITS = (OK, FAILED, BAD_INPUT, ENVIRONMENT)

RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="The project's folder.",
        show_default="the one that git keeps, from here up",
    ),
]
QueryArgument = Annotated[str, typer.Argument(metavar="QUERY", help="A question, in words.")]


def register(app: typer.Typer) -> None:
    """Add the group ``retrieval`` with its commands."""
    group = typer.Typer(
        help="What was logged about a project, and its code, ranked together.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(
        group,
        "serve",
        example=[
            "dcf retrieval serve",
            "MEM_BACKEND=memory PORT=0 dcf retrieval serve --root ~/shop --root ~/site",
        ],
        exits=_EXITS,
    )(serve)
    log_example = "dcf retrieval log 'ignore invalid Content-Length by design' --tag decision"
    command(group, "log", example=log_example, exits=_EXITS, prose=True)(log)
    context_example = "dcf retrieval context 'parser .on is not a function' --explain"
    command(group, "context", example=context_example, exits=_EXITS, prose=True)(context)
    code_example = "dcf retrieval code 'where is the content length parsed?'"
    command(group, "code", example=code_example, exits=_EXITS, prose=True)(code)
    documents_example = "dcf retrieval documents 'how long is a lease?'"
    command(group, "documents", example=documents_example, exits=_EXITS, prose=True)(documents)
    hook_example = "dcf retrieval hook context < prompt.json"
    command(group, "hook", example=hook_example, exits=(OK, FAILED))(hook)
    app.add_typer(group, name="retrieval")


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, help="0: a free one.", show_default="PORT, else 3030"
        ),
    ] = None,
    roots: Annotated[
        list[Path] | None,
        typer.Option(
            "--root",
            metavar="DIR",
            help="A project's folder; may be repeated.",
            show_default="DCF_RETRIEVAL_ROOTS, else the one that git keeps, from here up",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A file with the bearer token that clients must send.",
            show_default="DCF_TOKEN",
        ),
    ] = None,
    processes: Annotated[
        str,
        typer.Option(
            "--processes",
            metavar="N",
            help="Of several one listens and writes, the others answer questions; auto: as many"
            " as this machine has cores.",
        ),
    ] = "1",
    as_json: JsonOption = False,
) -> Answer:
    """Serve memory and code over HTTP: POST /log, POST /augmented-context, until SIGTERM or Ctrl-C.

    What is logged is kept in the memory (MEM_BACKEND=sqlite, its file in MEM_PATH or DCF_MEMORY),
    in files of JSON Lines (MEM_BACKEND=file, their folder in MEM_PATH), in PostgreSQL
    (MEM_BACKEND=postgres, DATABASE_URL=postgresql://…), or as long as the service runs
    (MEM_BACKEND=memory). Where there are several projects each request names its root; a line
    TOKEN FOLDER in the file DCF_RETRIEVAL_TOKENS is a token that opens one alone. Off loopback a
    token is required. /docs describes the service, /healthz says whether it works, /metrics counts.
    Prints one line of JSON when it is ready.
    """
    from uvloop import new_event_loop

    from dcf.cli.retrieval.serving import serve_retrieval
    from dcf.cli.retrieval.setting import RetrievalSetting
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    setting = RetrievalSetting.from_env(os.environ, roots, port)
    # Its loop and its sockets are of C: a request takes less of the core that all of them share.
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        serving = serve_retrieval(
            settings,
            setting,
            host,
            token_file,
            processes=setting.processes(processes),
            as_json=as_json,
        )
        return runner.run(serving)


def log(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What happened; - reads stdin.")],
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="As in error, fix; may be repeated."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Who says it, as in pytest.")
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="PATH", help="The file that it is about.")
    ] = None,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Log what happened in a project: an error, a decision, the output of a run.

    Secrets in it are taken out first. `dcf open` shows it by the address that is printed.
    """
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.retrieval.asking import log_item
    from dcf.retrieval import NewItem

    settings, setting = _here(root)
    new = NewItem(given_text(text), tuple(tags or ()), source, file)
    return asyncio.run(log_item(settings, setting, new))


def context(
    query: QueryArgument,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="PATH",
            help="Only what was logged about this file; its code comes earlier.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, max=100, help="At most so many.", show_default="10; 100 with --budget"
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            min=100,
            max=1_000_000,
            help="What all of it may cost; each kind has its share.",
        ),
    ] = None,
    mode: Annotated[
        str, typer.Option("--mode", help="ranked, or guide: overlap of words, and recency.")
    ] = "ranked",
    explain: Annotated[
        bool, typer.Option("--explain", help="Why each is there, and what was left out.")
    ] = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find what was logged, code and documents that answer a question, the best first."""
    from dcf.cli.retrieval.asking import find_context
    from dcf.retrieval import ContextQuestion, limit_of

    settings, setting = _here(root)
    # Its faults are reported together with those of the other fields.
    most = limit_of(limit, budget)
    question = ContextQuestion("", query, file, most, mode, budget)  # type: ignore[arg-type]
    return asyncio.run(find_context(settings, setting, question, explain=explain))


def code(
    query: QueryArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 10,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Index all files first, however long that takes."),
    ] = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find functions, classes and other pieces of code that answer a question.

    A stack trace leads to the files and lines that it names. What git ignores, binary, minified and
    generated files are left out. While the index is new, the files that say most of the words are
    read first.
    """
    from dcf.cli.retrieval.asking import find_code

    settings, setting = _here(root)
    return asyncio.run(find_code(settings, setting, query, limit, wait=wait))


def documents(
    query: QueryArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 10,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find pieces of documents that answer a question, as `dcf documents search` does."""
    from dcf.cli.documents.showing import search_documents

    settings, setting = _here(root)
    project = setting.projects.chosen(None, None)
    return asyncio.run(search_documents(settings, project, query, limit))


def hook(
    task: Annotated[HookTask, typer.Argument(metavar="TASK", help="failures, or context.")],
    as_json: JsonOption = False,
) -> Answer:
    """Do what a hook of a coding agent is for: reads the hook's JSON from stdin.

    failures: log the output of a test command that failed. context: print what was logged and code
    that answer the prompt, as the client adds it to what its model reads. The formats of Claude
    Code, Codex, Gemini CLI, Cursor and VS Code are known. Errors are written to stderr; the client
    goes on.
    """
    from dcf.cli.retrieval.hooks import answer_hook, read_hook

    return asyncio.run(answer_hook(task, read_hook()))


def _here(root: Path | None) -> tuple[Settings, RetrievalSetting]:
    from dcf.cli.project_folder import project_folder
    from dcf.cli.retrieval.setting import RetrievalSetting
    from dcf.cli.settings import Settings

    # One project: those of a service are not for a command.
    roots = [root or project_folder(Path.cwd())]
    env = {name: value for name, value in os.environ.items() if name != "DCF_RETRIEVAL_TOKENS"}
    return Settings.from_env(env), RetrievalSetting.from_env(env, roots)
