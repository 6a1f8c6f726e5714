"""Commands as argument lists: what starts one program with these words, and is no shell's business.

``shlex`` splits the words. It knows nothing of what a shell does beside that, so whatever stands
outside of quotes and means more than itself is refused before. What is accepted, a shell splits
into the same words (a property test asks one).
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from dcf.sop.runbook.placeholders import input_name


def _words(told: str) -> frozenset[str]:
    return frozenset(told.split())


_WRITTEN = re.compile(
    r"<(?P<angle>[A-Za-z][A-Za-z0-9]*(?:[ _./-][A-Za-z0-9]+){0,5})>"
    r"|\{\{-?\s*(?P<braces>[A-Za-z_]\w*)\s*-?\}\}"
    r"|(?<![\w<$-])(?P<yours>(?:YOUR|MY)[_-][A-Z0-9]+(?:[_-][A-Z0-9]+)*)\b",
    re.ASCII,
)
"""Placeholders that are for people, wherever they stand."""
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*))", re.ASCII)
"""Variables: placeholders where a shell would fill them in, which is not in single quotes."""
_OF_THE_SHELL = _words(
    "HOME PATH PWD OLDPWD USER LOGNAME SHELL HOSTNAME HOST RANDOM UID EUID PPID IFS PS1 LANG TERM "
    "TMPDIR EDITOR LINENO SECONDS KUBECONFIG BASH_SOURCE _"
)
_MEANS = {
    "|": "a pipe",
    "&": "`&`, which joins commands or sends one to the background",
    ";": "`;`, which joins commands",
    "<": "a redirection",
    ">": "a redirection",
    "(": "a subshell",
    ")": "a subshell",
    "$": "`$` that is no plain variable",
    "`": "the output of another command",
    "*": "a pattern of file names",
    "?": "a pattern of file names",
    "[": "a pattern of file names",
    "{": "braces that a shell expands",
    "}": "braces that a shell expands",
    "~": "`~`, which a shell expands",
    "!": "`!`, which a shell expands",
    "\n": "several lines",
}
"""What stands outside of quotes and is more than itself."""
_KEYWORDS = _words(
    "if then elif else fi for while until do done case esac in select function time coproc [[ ]] { "
    "} ! . : alias bg bind break builtin cd command compgen continue declare dirs disown enable "
    "eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd "
    "pushd read readarray readonly return set setenv shift shopt source suspend times trap type "
    "typeset ulimit umask unalias unset use wait"
)
"""They change the shell that reads them, and are no programs."""
_SHELLS = _words(
    "sh bash dash zsh ksh mksh fish csh tcsh ash rbash busybox pwsh powershell cmd cmd.exe"
)
_STARTERS = _words(
    "sudo su doas runuser pkexec env xargs parallel nohup setsid nice ionice chrt timeout watch "
    "script screen tmux stdbuf strace ltrace chroot unshare nsenter systemd-run at batch crontab "
    "ssh rsh mosh sshpass expect entr"
)
"""They start what their arguments say, often by a shell: who approves ``env`` approves nothing."""
_CODE_FOLLOWS = _words("--command --eval --execute --expression -exec --exec")
_CODE_OF_INTERPRETERS = _words("-c -e -E -r -f -m --file")
_INTERPRETERS = _words(
    "python python2 python3 perl ruby node deno php lua psql mysql mariadb sqlite3 mongo mongosh "
    "sqlcmd sqlplus git gdb vim vi ed m4 osascript Rscript tclsh clickhouse-client cqlsh"
)
_CODE_ANYWHERE = _words("awk gawk mawk nawk sed jq yq dc bc redis-cli make")
"""Programs of which nearly any argument is a program of its own."""
_PROGRAM = re.compile(r"/?[\w+][\w.+-]*(?:/[\w+][\w.+-]*)*", re.ASCII)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_BESIDE = re.compile(r"[\w./:=,@%+-]*")
"""What may stand beside a placeholder in its argument: anything else is a text for another program,
which may read more in it than a value."""
_FIRST_MARK = 0xF0000
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A value that is known when the command runs: the input ``name``."""

    name: str


Argument = tuple[str | Placeholder, ...]
"""The parts of one argument, in order."""


@dataclass(frozen=True, slots=True)
class ArgumentList:
    """``arguments`` with the program first. A placeholder fills (a part of) one of them, whatever
    its value is."""

    arguments: tuple[Argument, ...]

    @property
    def program(self) -> str:
        """The program by its name, or by its whole path."""
        return "".join(part for part in self.arguments[0] if isinstance(part, str))

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of the inputs that it takes, each once."""
        parts = (part for argument in self.arguments for part in argument)
        return tuple(dict.fromkeys(one.name for one in parts if isinstance(one, Placeholder)))


class NotPlain(Exception):
    """A command that is more than an argument list; the message says by what."""


def read_argument_list(text: str) -> ArgumentList:
    """The argument list that the command ``text`` is. Raises NotPlain."""
    if any(_is_unseen(character) for character in text):
        raise NotPlain("characters that cannot be seen")
    masked, names = _Scan(text).masked()
    try:
        words = shlex.split(masked, posix=True)
    except ValueError as unclosed:
        raise NotPlain("a quotation that does not end") from unclosed
    found = ArgumentList(tuple(_parts(word, names) for word in words))
    _check_program(found)
    _check_arguments(found)
    return found


def _is_unseen(character: str) -> bool:
    if character in " \t\n" or (character.isascii() and character.isprintable()):
        return False
    kind = unicodedata.category(character)
    return kind in _UNSEEN or kind == "Zs"


class _Scan:
    """Goes through a command once, as a shell does: what is quoted, and what means more."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.quote = ""
        self.begins_word = True
        self.out: list[str] = []
        self.names: list[str] = []

    def masked(self) -> tuple[str, list[str]]:
        """The text with a private character for each placeholder, and their names in order."""
        while self.at < len(self.text):
            if not self._placeholder():
                self._character(self.text[self.at])
        return "".join(self.out), self.names

    def _placeholder(self) -> bool:
        found = _WRITTEN.match(self.text, self.at)
        if found is None and self.quote != "'":
            found = _VARIABLE.match(self.text, self.at)
        if found is None:
            return False
        name = next(one for one in found.groups() if one)
        if found[0].startswith("$") and name in _OF_THE_SHELL:
            raise NotPlain(f"the variable {name} of the shell")
        if found[0].startswith("<") and not self.quote:
            # A placeholder, and no redirection from one file into another.
            around = self.text[max(0, self.at - 1) : self.at], self.text[found.end() :][:1]
            if around[0].isdigit() or around[1].isalnum():
                raise NotPlain(_MEANS["<"])
        self.out.append(chr(_FIRST_MARK + len(self.names)))
        self.names.append(input_name(name))
        self.begins_word = False
        self.at = found.end()
        return True

    def _character(self, character: str) -> None:
        if character == "\n" and (self.quote or self.text[self.at :].strip()):
            raise NotPlain(_MEANS["\n"])
        if self.quote == "'":
            self.quote = "" if character == "'" else "'"
        elif character == "\\":
            self._escape()
            return
        elif self.quote:
            if character in "$`":
                raise NotPlain(_MEANS[character])
            self.quote = "" if character == '"' else '"'
        elif character in "'\"":
            self.quote = character
        elif character == "#" and self.begins_word:
            self.at = len(self.text) if "\n" not in self.text[self.at :] else self._end_of_line()
            return
        elif character in _MEANS and character != "\n":
            raise NotPlain(_MEANS[character])
        self.begins_word = not self.quote and character in " \t\n"
        self.out.append(character)
        self.at += 1

    def _escape(self) -> None:
        """What a backslash stands before; at the end of a line it joins the next one."""
        pair = self.text[self.at : self.at + 2]
        if len(pair) < 2 or (self.quote and pair[1] in "$`"):
            raise NotPlain("`\\` before what a shell would read")
        if pair[1] == "\n":
            if self.quote or not self.begins_word:
                raise NotPlain(_MEANS["\n"])
        else:
            self.out.append(pair)
            self.begins_word = False
        self.at += len(pair)

    def _end_of_line(self) -> int:
        return self.text.index("\n", self.at)


def _parts(word: str, names: list[str]) -> Argument:
    found: list[str | Placeholder] = []
    for piece in re.split(f"([{chr(_FIRST_MARK)}-{chr(_FIRST_MARK + 0xFFFD)}])", word):
        if len(piece) == 1 and ord(piece) >= _FIRST_MARK:
            found.append(Placeholder(names[ord(piece) - _FIRST_MARK]))
        elif piece:
            found.append(piece)
    return tuple(found) or ("",)


def _check_program(found: ArgumentList) -> None:
    if not found.arguments:
        raise NotPlain("no program")
    first = found.arguments[0]
    if any(isinstance(part, Placeholder) for part in first):
        raise NotPlain("a placeholder in the place of the program")
    program = found.program
    name = PurePosixPath(program).name
    if _ASSIGNMENT.match(program):
        raise NotPlain("a variable that is set")
    if program in _KEYWORDS:
        raise NotPlain(f"`{program}`, which only a shell does")
    if name in _SHELLS:
        raise NotPlain(f"the shell {name}")
    if name in _STARTERS:
        raise NotPlain(f"`{name}`, which starts other programs")
    if not _PROGRAM.fullmatch(program) or ("/" in program and not program.startswith("/")):
        raise NotPlain("a program that is neither a name nor a whole path")


def _check_arguments(found: ArgumentList) -> None:
    program = PurePosixPath(found.program).name
    code = _CODE_FOLLOWS | (_CODE_OF_INTERPRETERS if program in _INTERPRETERS else frozenset())
    for before, argument in pairwise(found.arguments):
        texts = [part for part in argument if isinstance(part, str)]
        if len(texts) == len(argument):
            if PurePosixPath("".join(texts)).name in _SHELLS:
                raise NotPlain(f"the shell {''.join(texts)}")
            continue
        option = "".join(part for part in before if isinstance(part, str))
        begins = "".join(texts[:1]).partition("=")[0]
        if program in _CODE_ANYWHERE or option in code or begins in code:
            raise NotPlain(f"a placeholder in what {program} runs")
        if not all(_BESIDE.fullmatch(text) for text in texts):
            raise NotPlain("a placeholder inside a text that another program reads")
