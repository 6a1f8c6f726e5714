"""A package's exports, each imported by whoever first asks for it.

Entering a package is then cheap: a process loads what it uses of it, not all that it offers.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from types import ModuleType
from typing import Any


def export_late(package: str) -> None:
    """Gives ``package`` the names that its ``__init__`` imports below ``if TYPE_CHECKING``.

    The ``__init__`` says them once, for type checkers and for this function alike::

        if TYPE_CHECKING:
            from dcf.schema.schema import Schema
        else:
            export_late(__name__)

    Only ``from … import …`` is understood. An export may have the name of a module of the package:
    the export is what other code gets.
    """
    module = sys.modules[package]
    assert module.__spec__ is not None and module.__spec__.loader is not None
    source = module.__spec__.loader.get_source(package)  # type: ignore[attr-defined]
    vars(module)["__late__"] = _declared(source)
    module.__class__ = _LatePackage


def load_exports(*packages: str) -> None:
    """Imports whatever ``packages`` export late, now.

    For a process that is about to hold leases: an import later would stop its event loop, on a busy
    machine for longer than a lease lasts.
    """
    for package in packages:
        module = import_module(package)
        for name in vars(module).get("__late__", ()):
            getattr(module, name)


class _LatePackage(ModuleType):
    """``__late__``: (module, name there) of each export."""

    __late__: dict[str, tuple[str, str]]

    def __getattr__(self, name: str) -> Any:
        try:
            home, inner = self.__late__[name]
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None
        # ``from package import module`` exports a module of the package itself.
        module = import_module(f"{home}.{inner}" if home == self.__name__ else home)
        value = module if home == self.__name__ else getattr(module, inner)
        vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Python sets every module that it loads as an attribute of its package: an export stays.
        exported_from = self.__late__.get(name, (self.__name__, ""))[0]
        if not isinstance(value, ModuleType) or exported_from == self.__name__:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__late__})


def _declared(source: str) -> dict[str, tuple[str, str]]:
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
