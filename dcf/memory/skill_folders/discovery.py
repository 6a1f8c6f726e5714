"""What lies in a folder of skills: ``<folder>/<name>/SKILL.md``, with a config.json beside it or
not. Nothing is run, and one bad skill does not keep the others from being found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dcf.memory.checking import data_problems, text_problems
from dcf.memory.skill import Discovery, FoundSkill
from dcf.problem import Problem, has_errors
from dcf.skills.agent_skills import SKILL_MD, SkillFolder, read_folder, read_skill

CONFIG = "config.json"
MOST_SKILLS = 1_000


def discover(folder: Path) -> Discovery:
    """The skills in ``folder``, with the problems of all that is not one."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if _may_be_skill(entry))
    except OSError as error:
        return Discovery(str(folder), (), (_unreadable(folder, error),), frozenset(), False)
    problems: list[Problem] = []
    if len(names) > MOST_SKILLS:
        message = f"there are {len(names):,} skills; the first {MOST_SKILLS:,} are taken"
        problems.append(_problem("MEMORY_SKILLS_MANY", message, folder))
    skills = []
    for name in names[:MOST_SKILLS]:
        found, its_problems = read_found(folder, name)
        problems += its_problems
        if found is not None:
            skills.append(found)
    return Discovery(str(folder), tuple(skills), tuple(problems), frozenset(names))


def read_found(folder: Path, name: str) -> tuple[FoundSkill | None, list[Problem]]:
    """The skill in ``folder/name``; None if one of its problems is an error."""
    place = folder / name
    if not _lies_in(place, folder):
        hint = "copy what it leads to"
        message = "the link leads out of the folder of skills"
        return None, [_problem("AGENT_SKILL_LINK", message, place, hint)]
    before = _stamp(place / SKILL_MD)
    files, problems = read_folder(place)
    if files is None:
        return None, problems
    # A link may call it otherwise; it is known as what it is called here.
    files = SkillFolder(name, files.files)
    read = read_skill(files, place)
    problems += read.problems
    config, config_problems = _config(files, place)
    problems += config_problems
    if read.manifest is None or has_errors(problems):
        return None, problems
    if _stamp(place / SKILL_MD) != before:
        message = "the file changed while it was read"
        problems.append(_problem("MEMORY_SKILL_CHANGING", message, place / SKILL_MD, "sync again"))
        return None, problems
    found = FoundSkill(
        name=name,
        description=" ".join(read.manifest.description.split()),
        content=read.manifest.directives.strip(),
        config=config,
        files=tuple(sorted(set(files.files) - {SKILL_MD, CONFIG})),
    )
    problems += [one.at(file=str(place / SKILL_MD)) for one in _text_problems(found)]
    return (None if has_errors(problems) else found), problems


def _config(files: SkillFolder, place: Path) -> tuple[Mapping[str, Any], list[Problem]]:
    """What config.json says; nothing if there is none."""
    if CONFIG not in files.files:
        return {}, []
    file, hint = place / CONFIG, "write a JSON object, or remove the file"
    text = files.text(CONFIG)
    if text is None:
        return {}, [_problem("MEMORY_SKILL_CONFIG", "this is no UTF-8 text", file, hint)]
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        wrong = _problem("MEMORY_SKILL_CONFIG", f"this is no JSON: {error.msg}", file, hint)
        return {}, [wrong.at(line=error.lineno, column=error.colno)]
    except (ValueError, RecursionError) as error:
        return {}, [_problem("MEMORY_SKILL_CONFIG", f"this is no JSON: {error}", file, hint)]
    if not isinstance(config, dict):
        return {}, [_problem("MEMORY_SKILL_CONFIG", "this is no JSON object", file, hint)]
    return config, [one.at(file=str(file)) for one in data_problems("", config)]


def _text_problems(found: FoundSkill) -> Iterator[Problem]:
    yield from text_problems("/description", found.description)
    yield from text_problems("/content", found.content)


def _may_be_skill(entry: os.DirEntry[str]) -> bool:
    try:
        return not entry.name.startswith((".", "__")) and entry.is_dir()
    except OSError:  # a loop of links; reading it says so
        return True


def _lies_in(place: Path, folder: Path) -> bool:
    try:
        return place.resolve(strict=True).is_relative_to(folder.resolve(strict=True))
    except (OSError, RuntimeError):  # it went meanwhile, or a loop of links
        return False


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _unreadable(folder: Path, error: OSError) -> Problem:
    reason = error.strerror or type(error).__name__
    hint = "what was registered from it stays until the folder is back, or `unregister` removes it"
    return _problem("MEMORY_SKILLS_FOLDER", f"cannot be read: {reason}", folder, hint)


def _problem(code: str, message: str, file: Path, hint: str = "") -> Problem:
    return Problem(code, message, hint=hint, file=str(file))
