"""Paths that clients name: always below a folder of the platform."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcf.mcp.approval_token import check_generating
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform

_LONGEST = 4096


def readable(platform: Platform, given: str | None, default: Path, parameter: str) -> Path:
    """``given`` as a place under the generated skills, their sources, the workflows or the
    workspace; ``default`` when it is empty. Raises Refused ``outside_root``, ``invalid_path``."""
    config = platform.config
    roots = (config.generated, config.skills_src, config.workflows, config.workspace)
    return confined(given, default, roots, parameter)


def sources(platform: Platform, given: str | None, default: Path, parameter: str) -> Path:
    """``given`` as a place under the sources or the workspace. Raises as ``readable``."""
    config = platform.config
    return confined(given, default, (config.skills_src, config.workspace), parameter)


def target(
    platform: Platform,
    given: str | None,
    default: Path,
    parameter: str,
    *,
    sources: Sequence[Path],
    own: Path,
    approval_token: str | None,
) -> Path:
    """Where what is made of ``sources`` may be written. Raises as ``readable``, and Refused
    ``approval_forbidden`` for the generated folder.

    What is generated says which programs are started and which tools may be called. So only the
    sources of the platform are generated into its own folder, by whoever may generate there, and
    each artefact to its ``own`` place; what agents wrote themselves stays in the workspace.
    """
    config = platform.config
    source, generated = config.skills_src.resolve(), config.generated.resolve()
    ours = all(each.is_relative_to(source) for each in sources)
    roots = (config.generated, config.workspace) if ours else (config.workspace,)
    found = confined(given, default, roots, parameter)
    if found.is_relative_to(source):
        raise Refused("outside_root", f"{parameter} must not lie under {source.name}")
    if found.is_relative_to(generated):
        if not ours:
            raise Refused("outside_root", f"{parameter} must lie under {config.workspace.name}")
        if found != own.resolve():
            only = (Path(generated.name) / own.relative_to(config.generated)).as_posix()
            raise Refused(
                "outside_root", f"{parameter}: under {generated.name} it is {only} and nothing else"
            )
        check_generating(platform, approval_token)
    return found


def confined(given: str | None, default: Path, roots: Sequence[Path], parameter: str) -> Path:
    """The absolute path that ``given`` means, links followed, if it lies under one of ``roots``.

    A relative path begins with the name of a root (``generated/manifests``), or lies under the
    last one. Raises Refused ``outside_root``, ``invalid_path``.
    """
    text = (given or "").strip().removeprefix("file://")
    if "\0" in text or len(text) > _LONGEST:
        raise Refused("invalid_path", f"{parameter} is no path")
    path = _placed(Path(text), roots) if text else default
    try:
        found = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise Refused("invalid_path", f"{parameter} is no path: {error}") from error
    if not any(found.is_relative_to(root.resolve()) for root in roots):
        names = ", ".join(root.name for root in roots)
        raise Refused("outside_root", f"{parameter} must lie under {names}")
    return found


def _placed(path: Path, roots: Sequence[Path]) -> Path:
    if path.is_absolute():
        return path
    for root in roots:
        if path.parts and path.parts[0] == root.name:
            return root.parent / path
    return roots[-1] / path
