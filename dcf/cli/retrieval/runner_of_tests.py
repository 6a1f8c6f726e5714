"""Which program of a command line runs tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

_PROGRAMS = """
    pytest py.test tox nox unittest jest vitest mocha playwright phpunit rspec ctest
"""
_RUNNERS = frozenset(_PROGRAMS.split())
_TOOLS = frozenset({"npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "dotnet", "mix", "swift"})
"""Their first word says what they do."""
_BUILDERS = frozenset({"make", "gradle", "gradlew", "mvn", "mvnw", "zig"})
"""They are given targets, of which one may be the tests."""
_BEFORE = frozenset({"sudo", "time", "env", "command", "exec", "nohup", "nice", "timeout", "npx"})
"""Programs that run the command behind them."""
_ENVIRONMENTS = frozenset({"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "coverage"})
_PACKAGES = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUNS = {"run": _ENVIRONMENTS | _PACKAGES | {"deno"}, "exec": _PACKAGES | {"bundle"}}
"""Programs that do so behind a word."""
_SHELLS = frozenset({"sh", "bash", "zsh"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"[\d.]+[smhd]?")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
_TEST = re.compile(r"(?:.*:)?(?:nex)?test(?:[:_-].*)?")
_HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(\w+)\1(.*\n)[\s\S]*?^\s*\2$", re.MULTILINE)
_DEPTH = 5


def runner_of_tests(command: str) -> str | None:
    """What runs tests in ``command``, a line of a shell; None where nothing does. Not every name
    in a line is run: others search, install or talk about the program.

    >>> runner_of_tests("cd shop && CI=1 uv run pytest -q | tail -3")
    'pytest'
    >>> runner_of_tests("git commit -m 'make pytest faster'")
    """
    return _in_line(command, _DEPTH)


def _in_line(command: str, depth: int) -> str | None:
    found = (_runner(words, depth) for words in _parts(command))
    return next((one for one in found if one is not None), None)


def _parts(command: str) -> Iterator[list[str]]:
    """The words of each command of a line."""
    lexer = shlex.shlex(_HERE_DOCUMENT.sub(r"\3", command), posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if word.strip(";&|()\n"):
                words.append(word)
            else:
                yield words
                words = []
    except ValueError:
        # A quotation has no end: what stands before it was whole.
        return
    yield words


def _runner(words: Sequence[str], depth: int) -> str | None:
    """What runs tests in one command."""
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    if not words or not depth:
        return None
    name, rest = PurePosixPath(words[0]).name, words[1:]
    plain = [word for word in rest if not word.startswith("-")]
    if name in _RUNNERS:
        return name
    if _PYTHON.fullmatch(name) or (name == "coverage" and "-m" in rest):
        return _runner(rest[rest.index("-m") + 1 :], depth - 1) if "-m" in rest else None
    if name in _SHELLS:
        flag = next((word for word in rest if re.fullmatch("-[a-z]*c", word)), None)
        said = rest[rest.index(flag) + 1 :] if flag else []
        return _in_line(said[0], depth - 1) if said else None
    if name in _BEFORE:
        return _behind(rest, depth)
    if name in _BUILDERS:
        return f"{name} test" if any(map(_TEST.fullmatch, plain)) else None
    for word, programs in _RUNS.items():
        if name in programs and word in plain[:1]:
            behind = rest[rest.index(word) + 1 :]
            if found := _behind(behind, depth):
                return found
            plain = [one for one in behind if not one.startswith("-")]
    return f"{name} test" if name in _TOOLS and any(map(_TEST.fullmatch, plain[:1])) else None


def _behind(words: Sequence[str], depth: int) -> str | None:
    """The same for the command behind the options, and their values, of another one."""
    while words and (words[0].startswith("-") or _NUMBER.fullmatch(words[0])):
        words = words[1:]
        if found := _runner(words[1:], depth - 1):
            return found
    return _runner(words, depth - 1)
