"""The projects that a service has, and who may see which."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dcf.retrieval.errors import BadProjectTokens, RootNotServed, RootRequired
from dcf.secret_form import without_secrets

_SHOWN = 200
"""Characters of a folder that is refused."""


@dataclass(frozen=True, slots=True)
class Projects:
    """``roots`` are folders, absolute and with links resolved; whoever has a token of ``tokens``
    sees that one alone."""

    roots: tuple[str, ...]
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)

    def chosen(self, token: str | None, named: str | None) -> str:
        """The root that a request is about, which came with ``token`` and names ``named``. Raises
        RootRequired, RootNotServed."""
        own = self._of(token)
        seen = self.roots if own is None else (own,)
        if named is None:
            if len(seen) != 1:
                raise RootRequired(served=", ".join(seen) or "no folders")
            return seen[0]
        root = _resolved(named)
        if root not in seen:
            raise RootNotServed(root=_cut(named))
        return root

    def _of(self, token: str | None) -> str | None:
        given = (token or "").encode()
        # All of them are compared: how long it takes says nothing.
        found = [
            root
            for known, root in self.tokens.items()
            if hmac.compare_digest(known.encode(), given)
        ]
        return found[0] if found else None


def projects_of(roots: list[Path], tokens_file: Path | None) -> Projects:
    """The projects in ``roots``, and those that the lines ``TOKEN FOLDER`` of a file name; ``#``
    begins a comment. Raises BadProjectTokens."""
    tokens = {} if tokens_file is None else _tokens_in(tokens_file)
    all_roots = [*(_resolved(str(one)) for one in roots), *tokens.values()]
    return Projects(tuple(dict.fromkeys(all_roots)), tokens)


def _tokens_in(file: Path) -> dict[str, str]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise BadProjectTokens(file=file, reason=reason) from error
    tokens: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        token, _, folder = line.strip().partition(" ")
        if not folder.strip() or not (token.isascii() and token.isprintable()):
            reason = f"line {number} is not a token, a blank and a folder"
            raise BadProjectTokens(file=file, reason=reason)
        if token in tokens:
            raise BadProjectTokens(file=file, reason=f"line {number} has the token of another one")
        tokens[token] = _resolved(folder.strip())
    return tokens


def _cut(named: str) -> str:
    """What the caller named, and no more of it than one reads."""
    # Secrets first: one that is cut is not known for one.
    told = without_secrets(named[: 20 * _SHOWN])
    return told if len(told) <= _SHOWN else f"{told[:_SHOWN]}…"


def _resolved(folder: str) -> str:
    try:
        return str(Path(folder).expanduser().resolve())
    except (OSError, RuntimeError, ValueError):
        # A loop of links, a user whom nobody knows, a NUL: no folder, and not served.
        return folder
