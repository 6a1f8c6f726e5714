"""What can go wrong with the file that the memory lives in.

A class's docstring is its message; ``code`` is stable, ``hint`` says what would help.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcf.memory.errors import MemoryProblem
from dcf_agents.installation import extra_command


class MemoryBusy(MemoryProblem):
    """{path} was held by other processes for more than {seconds:g} s."""

    code = "memory_busy"
    hint = "try again; `dcf memory doctor` says who uses the file"


class MemoryInUse(MemoryProblem):
    """{path} is in use{by}."""

    code = "memory_in_use"
    hint = "end what uses it (`dcf memory doctor` says what), then repeat"

    def __init__(self, path: Path, processes: Sequence[int]) -> None:
        self.processes = tuple(processes)
        by = f" by process {', '.join(map(str, processes))}" if processes else ""
        super().__init__(path=path, by=by)


class MemoryFull(MemoryProblem):
    """There is no room for {path} to grow: nothing of the change was written."""

    code = "memory_full"
    hint = "make room on the disk, or `dcf memory gc --dry-run` to see what memory could give back"


class MemoryCorrupt(MemoryProblem):
    """{path} cannot be read as a memory file: {reason}."""

    code = "memory_corrupt"
    hint = "`dcf memory restore BACKUP` puts a backup in its place, and keeps this file aside"


class MemoryWithoutHeader(MemoryCorrupt):
    """{path} cannot be read as a memory file: it has no SQLite header, so it is damaged, or
    encrypted and no key was given."""

    hint = (
        "if it is encrypted, set DCF_MEMORY_KEY; else `dcf memory restore BACKUP`, which keeps the"
        " file aside"
    )


class MemoryForeign(MemoryProblem):
    """{path} is an SQLite file of another program."""

    code = "memory_foreign"
    hint = "name another file: DCF does not write into this one"


class MemoryKey(MemoryProblem):
    """{path} cannot be read with this key."""

    code = "memory_key"
    hint = "set DCF_MEMORY_KEY to the key that the file has, or unset it if the file has none"


class UnusableKey(MemoryProblem):
    """A key has at least one character and no NUL."""

    code = "memory_unusable_key"
    hint = "set DCF_MEMORY_KEY to a text that nobody guesses, or unset it"


class MemoryTooNew(MemoryProblem):
    """{path} was written by a newer DCF: it is of version {found}, this one knows {known}."""

    code = "memory_too_new"
    hint = "use that newer DCF, or `dcf memory restore` a backup made before"


class MemoryUnusable(MemoryProblem):
    """{path} cannot be used: {reason}."""

    code = "memory_unusable"
    hint = "check that the folder exists and can be written, and that the path is a plain file"


class UnusableValue(MemoryProblem):
    """What was given cannot stand in a memory file: {reason}."""

    code = "memory_unusable_value"
    hint = "ids, names and texts are UTF-8; whole numbers have at most 64 bits"


class BackupExists(MemoryProblem):
    """{path} is there already, and was not overwritten."""

    code = "memory_backup_exists"
    hint = "name another file, or say that it may be overwritten"


class CipherMissing(MemoryProblem):
    """A memory file with a key needs the package sqlcipher3, which is not installed."""

    code = "memory_cipher_missing"

    def __init__(self) -> None:
        self.hint = extra_command("encryption")
        super().__init__()
