"""A copy of an installed package for this project alone.

What is changed in the copy is unchanged for whoever else in the process imports the package.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class PrivateCopy:
    """The modules of ``package``, loaded once more under the name ``name``.

    The package may import its own modules by its public name, at the start or later: inside the
    copy that name means the copy. Everything else is imported as ever.
    """

    def __init__(self, package: str, name: str) -> None:
        self._package = package
        self._name = name
        self._builtins = {**vars(builtins), "__import__": self._import}

    def module(self, name: str) -> ModuleType:
        """The copy of the module that is publicly called ``name``; ImportError when there is none.

        ``name`` is that of the package, or of a module in it.
        """
        private = self._private(name)
        if private in sys.modules:
            return sys.modules[private]
        parent, _, last = name.rpartition(".")
        holder = self.module(parent) if parent else None
        spec = _found(name, None if holder is None else holder.__path__)
        if spec is None:
            raise ImportError(f"no module named {name}", name=name)
        module = sys.modules[private] = self._empty(private, spec)
        try:
            self._run(module, spec)
        except BaseException:
            del sys.modules[private]
            raise
        if holder is not None:
            setattr(holder, last, module)
        return module

    def _private(self, name: str) -> str:
        return self._name + name.removeprefix(self._package)

    def _empty(self, private: str, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(private)
        places = spec.submodule_search_locations
        module.__package__ = private if places is not None else private.rpartition(".")[0]
        module.__file__ = spec.origin
        module.__dict__["__builtins__"] = self._builtins
        if places is not None:
            module.__path__ = places
        return module

    def _run(self, module: ModuleType, spec: ModuleSpec) -> None:
        if not isinstance(spec.loader, InspectLoader):
            raise ImportError(f"{spec.name} has no code that can be read", name=spec.name)
        code = spec.loader.get_code(spec.name)
        if code is None:
            raise ImportError(f"{spec.name} has no Python code", name=spec.name)
        exec(code, module.__dict__)  # as an import does

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """``__import__`` as the modules of the copy see it."""
        if level or name.partition(".")[0] != self._package:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = self.module(name)
        for wanted in fromlist or ():
            if not hasattr(module, wanted) and _found(f"{name}.{wanted}", module.__path__):
                self.module(f"{name}.{wanted}")
        return module if fromlist else self.module(self._package)


def _found(name: str, places: Sequence[str] | None) -> ModuleSpec | None:
    return PathFinder.find_spec(name, places)
