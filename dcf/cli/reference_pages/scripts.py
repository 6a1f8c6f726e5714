"""The page of scripts: the headers of the Lua files."""

from __future__ import annotations

from importlib import resources

from control_plane import script
from dcf.cli.reference_pages.markdown import block, page

_INTRO = """\
Every change of a run, or of the record of an agent, a session or a conductor, is one Lua script,
executed by Redis as a whole. What stands here is the header of each file in
`control_plane/scripts/`. The rules behind them are in
[the protocol](../explanation/protocol.md)."""


def scripts_page() -> str:
    """The text of ``scripts.md``."""
    folder = resources.files("control_plane") / "scripts"
    headers = {
        file.name.removesuffix(".lua"): _header(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".lua")
    }
    everything = headers.pop("refusal_prelude")
    runs, records = headers.pop("prelude"), headers.pop("record_prelude")
    subjects = {
        subject: headers.pop(subject) for subject in dict.fromkeys(script.SUBJECTS.values())
    }
    parts = [f"## {name}\n\n{block(headers[name])}" for name in sorted(headers)]
    shared = [
        f"## Shared by all scripts\n\n{block(everything)}",
        f"## Shared by the scripts of runs\n\n{block(runs)}",
        f"## Shared by the scripts of records\n\n{block(records)}",
    ]
    for subject, header in subjects.items():
        names = " and ".join(name for name, of in script.SUBJECTS.items() if of == subject)
        shared.append(f"## Shared by {names}\n\n{block(header)}")
    return page("Scripts", _INTRO, *shared, *parts)


def _header(text: str) -> str:
    """The comment that ``text`` begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").removeprefix(" "))
    return "\n".join(lines)
