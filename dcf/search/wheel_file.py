"""Files that packages carry, found without importing the packages."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from dcf.search.errors import EmbedderMissing


def wheel_file(embedder: str, package: str, inside: str, hint: Callable[[], str]) -> Path:
    """The file ``inside`` an installed package. Raises ``EmbedderMissing`` with what ``hint``
    gives: the command that installs the package.

    The packages are not imported: one sets up logging for the whole process, another reads
    ``.env`` into the environment, and both import far more than their files need.
    """
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / inside
        if path.is_file():
            return path
    raise EmbedderMissing(embedder, f"the package {package}", hint())
