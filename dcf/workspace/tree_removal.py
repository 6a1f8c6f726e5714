"""Removing a folder with all in it, however deep it is, without following a link."""

from __future__ import annotations

import os
import stat

from dcf.workspace.confined import FOLDER, Place


def remove_tree(place: Place, unique: str) -> None:
    """Remove the folder at ``place``. Raises OSError.

    Folders in it are first moved up beside it, under names that begin with ``unique``: so neither
    the stack nor the open files grow with the depth.
    """
    pending, count = [place.name], 0
    while pending:
        name = pending.pop()
        folder: int = os.open(name, FOLDER, dir_fd=place.folder)
        try:
            for inner in os.listdir(folder):
                found = Place(folder, inner).look()
                if found is None:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    count += 1
                    moved = f"{unique}-{count}"
                    os.rename(inner, moved, src_dir_fd=folder, dst_dir_fd=place.folder)
                    pending.append(moved)
                else:
                    os.unlink(inner, dir_fd=folder)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=place.folder)
