"""The two folders of ``dcf skills``: ``--src``, what authors write, and ``--generated``, what runs.

Every command that has to do with one of them calls it so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_SOURCE = Path("skills_src")

SourceOption = Annotated[Path, typer.Option("--src", metavar="DIR", help="What authors write.")]
GeneratedOption = Annotated[
    Path | None,
    typer.Option(
        "--generated",
        metavar="DIR",
        help="The generated folder.",
        show_default="DCF_GENERATED or generated",
    ),
]


def generated_folder(chosen: Path | None) -> Path:
    """The folder that ``--generated`` names, else the one of the settings."""
    from dcf.cli.settings import Settings

    return chosen or Settings.from_env(os.environ).generated
