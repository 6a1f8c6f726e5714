"""Words of commands that take away what somebody may still need.

A file of its own: runbooks are marked by it when they are read, and the questions of the gate when
a command is to be run.
"""

from __future__ import annotations

import re

_DESTRUCTIVE = re.compile(
    r"\brm\s+(?:-\S+\s+)*-\w*[rf]|\brmdir\b|\bshred\b|\bmkfs|\bwipefs\b|\bdd\s+(?:\S+\s+)*of="
    r"|\bfdisk\b|\bparted\b|\blv(?:remove|reduce)\b|\bvgremove\b|\bpvremove\b|\bzpool\s+destroy"
    r"|\bmdadm\b.*--(?:fail|remove|zero)"
    r"|\bdrop\s+(?:table|database|schema|index|user|role|view|column|keyspace|owned)\b"
    r"|\btruncate\b|\bdelete\b|\bdestroy\b|\bpurge\b|\bflush(?:all|db)\b|\bformat\b"
    r"|\bdrain\b|\bterminate\b|\bterminate-\w+|\bdelete-\w+|\breboot\b|\bshutdown\b|\bpoweroff\b"
    r"|\bhalt\b|\binit\s+[06]\b|\bkill(?:all)?\b|\bpkill\b|\bpush\s+(?:\S+\s+)*(?:-f|--force)\b"
    r"|\breset\s+--hard\b|\bclean\s+-\w*f|\buninstall\b|\bprune\b|\brollback\b|\brollout\s+undo\b"
    r"|\bremove\b|\brevoke\b|\bscale\b.*--replicas[= ]0\b|\bfailover\b|\breset\b",
    re.IGNORECASE,
)
"""What cannot be taken back or takes something away from whoever uses it."""


def is_destructive(command: str) -> bool:
    """Whether ``command`` has a word of the table above. A guess on the safe side: what is marked
    is looked at twice, and what is not may still do harm."""
    return bool(_DESTRUCTIVE.search(command))
