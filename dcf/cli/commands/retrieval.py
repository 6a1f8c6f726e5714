"""``retrieval``: what was logged about a project and its code, together."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, INTERRUPTED, OK

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
        show_default="the nearest from here up that git keeps or `dcf init` made",
    ),
]
RootsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="A project's folder, where the backend does not know its name; may be repeated.",
    ),
]
QueryArgument = Annotated[
    str, typer.Argument(metavar="QUERY", help="A question, in words; - reads stdin.")
]


def register(app: typer.Typer) -> None:
    """Add the group ``retrieval`` with its commands."""
    # It has options of this module.
    from dcf.cli.commands.playbooks import register_playbooks

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
    delete_example = "dcf retrieval delete passage-7d1c0a52-6f0e-4f43-9a4d-0d6a9e0f0a11"
    command(group, "delete", example=delete_example, exits=_EXITS)(delete)
    code_example = "dcf retrieval code 'where is the content length parsed?'"
    command(group, "code", example=code_example, exits=_EXITS, prose=True)(code)
    index_example = "dcf retrieval index --root ~/shop"
    command(group, "index", example=index_example, exits=_EXITS)(index)
    documents_example = "dcf retrieval documents 'how long is a lease?'"
    command(group, "documents", example=documents_example, exits=_EXITS, prose=True)(documents)
    maintain_example = ["dcf retrieval maintain", "0 3 * * * dcf retrieval maintain --root ~/shop"]
    command(group, "maintain", example=maintain_example, exits=_EXITS)(maintain)
    audit_example = ["dcf retrieval audit --since 7d", "dcf retrieval audit --operation delete"]
    command(group, "audit", example=audit_example, exits=_EXITS)(audit)
    migrate_examples = ["dcf retrieval migrate sqlite file:~/items"]
    migrate_examples += ["DATABASE_URL=postgresql://… dcf retrieval migrate sqlite postgres"]
    command(group, "migrate", example=migrate_examples, exits=(*_EXITS, INTERRUPTED))(migrate)
    hook_example = "dcf retrieval hook context < prompt.json"
    command(group, "hook", example=hook_example, exits=(OK, FAILED))(hook)
    register_playbooks(group)
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
            show_default="DCF_RETRIEVAL_ROOTS, else the nearest from here up that git keeps or"
            " `dcf init` made",
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
    token is required, and DCF_RETRIEVAL_ALLOW with the addresses and networks that may ask. /docs
    describes the service, /healthz says whether it works, /metrics counts. Prints one line of JSON
    when it is ready.
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
        typer.Option("--tag", "--tags", metavar="TAG", help="As in error, fix; may be repeated."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Who says it, as in pytest.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "--file-path", metavar="PATH", help="The file that it is about."),
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

    settings, setting = here(root)
    new = NewItem(given_text(text), tuple(tags or ()), source, _named(file, setting))
    return asyncio.run(log_item(settings, setting, new))


def delete(
    item_id: Annotated[
        str, typer.Argument(metavar="ID", help="Its id, or its address, dcf://memory/…")
    ],
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Delete a logged item of a project; `dcf retrieval audit` has it, without its text."""
    from dcf.cli.retrieval.asking import delete_item

    return asyncio.run(delete_item(*here(root), item_id))


def context(
    query: QueryArgument,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            "--file-path",
            metavar="PATH",
            help="Only what was logged about this file; what is near to it comes earlier.",
        ),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", "--tags", metavar="TAG", help="What has it comes earlier; may be repeated."
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
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.retrieval.asking import find_context
    from dcf.retrieval import ContextQuestion, limit_of

    settings, setting = _searched(root)
    # Its faults are reported together with those of the other fields.
    most = limit_of(limit, budget)
    named = tuple(tags or ())
    question = ContextQuestion(
        *("", given_text(query), _named(file, setting), most, mode, budget),  # type: ignore[arg-type]
        tags=named,
    )
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
    read first; `dcf retrieval index` makes it whole.
    """
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.retrieval.asking import find_code

    settings, setting = _searched(root)
    return asyncio.run(find_code(settings, setting, given_text(query), limit, wait=wait))


def index(root: RootOption = None, as_json: JsonOption = False) -> Answer:
    """Index all code of a project, so that each question about it is answered out of all files.

    Questions index what changed by themselves, a part at a time where that is much. What is done
    when this is interrupted stays done.
    """
    from dcf.cli.retrieval.asking import index_code
    from dcf.cli.screen import Screen

    return asyncio.run(index_code(*_searched(root), Screen(as_json=as_json)))


def documents(
    query: QueryArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 10,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find pieces of documents that answer a question, as `dcf documents search` does."""
    from dcf.cli.documents.showing import search_documents
    from dcf.cli.memory.given_text import given_text

    settings, setting = here(root)
    project = setting.projects.chosen(None, None)
    return asyncio.run(search_documents(settings, project, given_text(query), limit))


def maintain(root: RootOption = None, as_json: JsonOption = False) -> Answer:
    """Do now what `dcf retrieval serve` does every night at DCF_RETRIEVAL_NIGHT (3).

    Items of the project whose time is over (DCF_RETRIEVAL_TTL) go, what keeps items is compacted,
    documents whose file changed are read again and those whose file is gone go, and days of the
    audit log that are older than DCF_AUDIT_DAYS (90) go. It may be interrupted, and done while a
    service runs.
    """
    from dcf.cli.retrieval.tending import tend

    return asyncio.run(tend(*here(root)))


def audit(
    by: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Only this person, tool or token.")
    ] = None,
    operation: Annotated[
        str | None, typer.Option("--operation", help="Only read, delete or sweep.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Not older, as in 7d or 12h.")
    ] = None,
    all_projects: Annotated[bool, typer.Option("--all", help="Of all projects.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 50,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show who read and deleted what of a project, the newest first.

    Each entry has who, when, from where, and the addresses of what was returned or deleted, nothing
    of what it says or of what was asked. A token is named by the first digits of its SHA-256.
    DCF_AUDIT_READS=0 notes deletions alone.
    """
    from dcf.cli.retrieval.tending import show_audit

    settings, setting = here(root)
    showing = show_audit(
        settings,
        setting,
        by=by,
        operation=operation,
        since=since,
        all_projects=all_projects,
        limit=limit,
    )
    return asyncio.run(showing)


def migrate(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="A backend, and where it lies; see above.")
    ],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    roots: RootsOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Copy what was logged about all projects from one backend to another.

    FROM and TO are sqlite, file or postgres, or one of them with its place: sqlite:FILE,
    file:FOLDER, postgres:URL. Without a place they are where MEM_BACKEND=… has them: MEM_PATH is
    the place of the backend that MEM_BACKEND names, DATABASE_URL that of postgres. Items keep their
    ids, times, tags, sources and files, and FROM stays as it is. It can be ended at any moment and
    done again: what is at TO already stays as it is, what was forgotten in one of both places is
    not brought back.
    """
    from dcf.cli.retrieval.migrating import migrate_items
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    settings = Settings.from_env(_env())
    # What goes on is told on stderr, whatever the answer is.
    screen = Screen(as_json=True)
    return asyncio.run(migrate_items(settings, source, target, roots or [], screen))


def hook(
    task: Annotated[str, typer.Argument(metavar="TASK", help="failures, or context.")],
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


def here(root: Path | None) -> tuple[Settings, RetrievalSetting]:
    """The settings for the project at ``root`` (None: the one of this folder) alone."""
    from dcf.cli.project_folder import project_folder
    from dcf.cli.retrieval.setting import RetrievalSetting
    from dcf.cli.settings import Settings

    # One project: those of a service are not for a command.
    roots = [root or project_folder(Path.cwd())]
    env = _env()
    return Settings.from_env(env), RetrievalSetting.from_env(env, roots)


def _searched(root: Path | None) -> tuple[Settings, RetrievalSetting]:
    """The same, for a command that reads the whole folder. Raises BadInput."""
    from dcf.cli.project_folder import demand_project, project_folder

    if root is None:
        demand_project(project_folder(Path.cwd()))
    return here(root)


def _named(file: str | None, setting: RetrievalSetting) -> str | None:
    from dcf.cli.project_folder import path_from_here

    return file and path_from_here(file, setting.projects.chosen(None, None))


def _everywhere() -> tuple[Settings, RetrievalSetting]:
    from dcf.cli.retrieval.setting import RetrievalSetting
    from dcf.cli.settings import Settings

    env = _env()
    return Settings.from_env(env), RetrievalSetting.from_env(env)


def _env() -> dict[str, str]:
    """The environment without the tokens of a service."""
    return {name: value for name, value in os.environ.items() if name != "DCF_RETRIEVAL_TOKENS"}
