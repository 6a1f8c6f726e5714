"""``documents``: what files say, kept so that it is found and cited."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.retrieval import QueryArgument, RootOption

NamesArgument = Annotated[
    list[str], typer.Argument(metavar="DOCUMENT...", help="Ids, or paths in the project.")
]


def register(app: typer.Typer) -> None:
    """Add the group ``documents`` with its commands."""
    group = typer.Typer(
        help="What files say: read, searched, cited by page and line.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    add_examples = ["dcf documents add notes", "dcf documents add ~/papers/tea.pdf letter.eml"]
    command(group, "add", example=add_examples)(add)
    search_example = "dcf documents search 'how long is a lease?'"
    command(group, "search", example=search_example, prose=True)(search)
    list_example = ["dcf documents list", "dcf documents list --all --json"]
    command(group, "list", example=list_example)(list_documents)
    show_examples = [
        "dcf documents show notes/tea.md --lines 10-40",
        "dcf documents show tea.pdf --page 3",
    ]
    command(group, "show", example=show_examples)(show)
    command(group, "remove", example="dcf documents remove notes/old.md")(remove)
    app.add_typer(group, name="documents")


def add(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE|FOLDER...", help="What is read, and read again.")
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Try again what was refused before and has not changed.")
    ] = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Read files, or the documents of folders, and keep what they say.

    Markdown, text, HTML, code, CSV, PDF, DOCX, notebooks and e-mail, without the secrets in them.
    A file that has not changed is not read again; documents whose file is gone from a folder go. Of
    a folder what git ignores and links are left out. Scanned, encrypted, damaged and too large
    files are refused by name, and all others are kept. One whose refusal took long is not tried
    again before it changes.
    """
    from dcf.cli.documents.adding import add_documents
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    screen = Screen(as_json=as_json)
    return asyncio.run(add_documents(settings, _project(root), paths, screen, again=again))


def search(
    query: QueryArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 10,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find the pieces of documents that answer a question, the best first."""
    from dcf.cli.documents.showing import search_documents
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(search_documents(settings, _project(root), given_text(query), limit))


def list_documents(
    everything: Annotated[bool, typer.Option("--all", help="Those of all projects.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave so many out first.")] = 0,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """List documents by their paths."""
    from dcf.cli.documents.showing import list_documents
    from dcf.cli.settings import Settings

    project = None if everything else _project(root)
    return asyncio.run(list_documents(Settings.from_env(os.environ), project, limit, offset))


def show(
    name: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="Its id, or its path in the project.")
    ],
    page: Annotated[
        int | None,
        typer.Option("--page", metavar="N", min=1, help="Only this page, or cell of a notebook."),
    ] = None,
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="N[-M]", help="Only what has these lines.")
    ] = None,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what is kept of a document, piece by piece, each with its address."""
    from dcf.cli.documents.showing import DocumentQuestion, lines_of, show_document
    from dcf.cli.settings import Settings

    asked = DocumentQuestion(name, page, None if lines is None else lines_of(lines))
    return asyncio.run(show_document(Settings.from_env(os.environ), asked, _project(root)))


def remove(
    names: NamesArgument,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Remove what is kept of documents. Their files stay, and can be added again."""
    from dcf.cli.documents.adding import remove_documents
    from dcf.cli.settings import Settings

    return asyncio.run(remove_documents(Settings.from_env(os.environ), _project(root), names))


def _project(root: Path | None) -> str:
    """The folder, links resolved, that documents belong to."""
    from dcf.cli.project_folder import project_folder

    return str((root or project_folder(Path.cwd())).expanduser().resolve())
