"""``memory``: backups, agent files, and the state of the file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import SureOption

LettaOption = Annotated[
    str | None,
    typer.Option("--letta", metavar="URL", help="A Letta server; DCF_LETTA_TOKEN is its password."),
]
NameTakenOption = Annotated[
    Literal["suffix", "refuse"] | None,
    typer.Option(
        "--on-name-taken", help="Number an agent whose name is taken, or refuse everything."
    ),
]


def register_transfer(memory: typer.Typer) -> None:
    """Add ``backup``, ``restore``, ``import``, ``export``, ``doctor`` and ``rekey``."""
    command(
        memory,
        "backup",
        example=["dcf memory backup", "dcf memory backup /mnt/usb/memory.db --overwrite"],
    )(backup)
    command(memory, "restore", example="dcf memory restore /mnt/usb/memory.db")(restore)
    command(
        memory,
        "import",
        example=[
            "dcf memory import agent.af --dry-run",
            "dcf memory import agents/",
            "dcf memory import --letta http://127.0.0.1:8283 --tag support",
        ],
    )(import_agents)
    command(
        memory,
        "export",
        example=[
            "dcf memory export ada --out ada.af",
            "dcf memory export --all --out agents/",
            "dcf memory export ada --letta http://127.0.0.1:8283",
        ],
    )(export)
    command(
        memory,
        "doctor",
        example=["dcf memory doctor", "dcf memory doctor --rebuild-index"],
    )(doctor)
    command(
        memory,
        "rekey",
        example=[
            "DCF_MEMORY_NEW_KEY=$(pass dcf) dcf memory rekey --yes",
            "dcf memory rekey --decrypt",
        ],
    )(rekey)


def backup(
    to: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="Where to.", show_default="a new file in DCF_HOME/backups"
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="A file that is there may be replaced.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Copy the whole memory to a file, while it is used.

    The file is there whole or not at all, and has the key of the memory.
    """
    from dcf.cli.memory.backup import back_up
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(back_up(Settings.from_env(os.environ), to, screen, overwrite=overwrite))


def restore(
    backup_file: Annotated[Path, typer.Argument(metavar="BACKUP", help="What backup wrote.")],
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Put a backup in place of the memory.

    The backup is checked first. The replaced file is never lost: it is kept beside, under a new
    name. Nobody may use the memory meanwhile.
    """
    from dcf.cli.memory.backup import put_back
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(put_back(Settings.from_env(os.environ), backup_file, screen, sure=sure))


def import_agents(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH...]", help="Agent files (.af), or folders of them."),
    ] = None,
    letta: LettaOption = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="AGENT", help="With --letta: only the agent of this name."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="With --letta: only agents with this tag."),
    ] = None,
    on_name_taken: NameTakenOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and check the files; change nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Bring in agents from files or a Letta server.

    With blocks and conversations, under new ids. Tools in a file are kept as text and never run;
    values of secrets are not taken over. A name that is taken gets a number.
    """
    from dcf.cli.memory.importing import ImportOrder, import_files, import_letta
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if bool(paths) == (letta is not None):
        raise typer.BadParameter("name files, or a server with --letta", param_hint="[PATH...]")
    if letta is None and (agent or tag):
        raise typer.BadParameter("they choose agents of --letta", param_hint="--agent, --tag")
    if letta is not None and dry_run:
        raise typer.BadParameter("it is for files", param_hint="--dry-run")
    order = ImportOrder(
        tuple(paths or ()),
        letta,
        tuple(agent or ()),
        tuple(tag or ()),
        on_name_taken or "suffix",
        dry_run,
    )
    bring = import_files if letta is None else import_letta
    screen = Screen(as_json=as_json)
    return asyncio.run(bring(Settings.from_env(os.environ), order, screen))


def export(
    agents: Annotated[
        list[str] | None, typer.Argument(metavar="[AGENT...]", help="Which ones.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Those with this tag; may be repeated."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE|DIR",
            help="One file for all, if it has an ending; else a folder with a file for each.",
        ),
    ] = Path(),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Files that are there may be replaced.")
    ] = False,
    letta: LettaOption = None,
    on_name_taken: NameTakenOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Write agents to files (.af) or a Letta server.

    With blocks and conversations. No value of a secret is in a file.
    """
    from dcf.cli.memory.exporting import ExportOrder, export_files, export_letta
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if sum((bool(agents), bool(tag), everything)) != 1:
        raise typer.BadParameter("name agents, or say --tag or --all", param_hint="[AGENT...]")
    if letta is None and on_name_taken is not None:
        raise typer.BadParameter("it is for --letta", param_hint="--on-name-taken")
    order = ExportOrder(
        tuple(agents or ()), tuple(tag or ()), out, overwrite, letta, on_name_taken or "refuse"
    )
    give = export_files if letta is None else export_letta
    return asyncio.run(give(Settings.from_env(os.environ), order, Screen(as_json=as_json)))


def doctor(
    rebuild: Annotated[
        bool, typer.Option("--rebuild-index", help="Make the index of search anew first.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Check the memory and say what would mend it.

    Every page, every row against its history, the index of search, who uses the file.
    """
    from dcf.cli.memory.doctor import examine_memory
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(examine_memory(Settings.from_env(os.environ), screen, rebuild=rebuild))


def rekey(
    decrypt: Annotated[bool, typer.Option("--decrypt", help="Take the encryption away.")] = False,
    remove_old: Annotated[
        bool, typer.Option("--remove-old", help="Do not keep the file as it was before.")
    ] = False,
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Encrypt the memory, change its key, or decrypt it.

    The new key is what DCF_MEMORY_NEW_KEY holds, or what is asked for at a terminal; never an
    option, which others on the machine could read. Nobody may use the memory meanwhile.
    """
    from dcf.cli.memory.rekey import change_key
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    settings, screen = Settings.from_env(os.environ), Screen(as_json=as_json)
    return asyncio.run(
        change_key(settings, screen, decrypt=decrypt, remove_old=remove_old, sure=sure)
    )
