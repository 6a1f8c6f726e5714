"""Prompts: Markdown files that begin with their name and version.

::

    ---
    name: worker
    version: 1.0.0
    ---
    # Worker
    …
"""

from __future__ import annotations

import re
from pathlib import Path

from dcf.agents.templates.template import Prompt
from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills import read_yaml

LARGEST = 262_144
"""Bytes of a prompt or template."""
_FRONT = re.compile(r"---\n(?P<front>.*?\n)---\n(?P<text>.*)", re.DOTALL)
_VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
_HINT = "begin it with ---, name:, version: and ---, a line each"


def read_prompt(file: Path) -> tuple[Prompt | None, list[Problem]]:
    """The prompt in ``file``, or what is wrong with it."""
    text, problems = read_text(file)
    if text is None:
        return None, problems
    found = _FRONT.match(text)
    if found is None:
        message = "the prompt does not say its name and version"
        return None, [Problem("PROMPT_FRONT", message, "", _HINT, file=str(file), line=1, column=1)]
    # One empty line for that of the dashes: lines are those of the file.
    document, problems = read_yaml("\n" + found["front"], str(file))
    if document is None:
        return None, problems
    root = document.root
    name, version = root.text("name"), root.text("version")
    if name != file.stem:
        message = f"the prompt is called {name!r}, its file {file.name}"
        problems.append(root.problem("PROMPT_NAME", message, f"write name: {file.stem}"))
    if version is None or not _VERSION.fullmatch(version):
        message = f"{version!r} is no version of a prompt"
        problems.append(root.problem("PROMPT_VERSION", message, "write one such as 1.0.0"))
    if not found["text"].strip():
        problems.append(root.problem("PROMPT_EMPTY", "the prompt says nothing"))
    if any(problem.is_error for problem in problems):
        return None, problems
    return Prompt(str(name), str(version), found["text"].strip()), problems


def read_text(file: Path) -> tuple[str | None, list[Problem]]:
    """The text of a file, with newlines as such, or why it cannot be read."""
    try:
        data = read_regular(file, LARGEST + 1)
        if len(data) > LARGEST:
            message = f"the file is larger than {LARGEST:,} bytes"
            return None, [Problem("TEMPLATE_SIZE", message, file=str(file))]
        text = data.decode("utf-8-sig")
    except OSError as error:
        message = f"cannot be read: {error.strerror or type(error).__name__}"
        return None, [Problem("TEMPLATE_UNREADABLE", message, file=str(file))]
    except UnicodeDecodeError:
        return None, [Problem("TEMPLATE_ENCODING", "the file is not UTF-8 text", file=str(file))]
    return text.replace("\r\n", "\n"), []
