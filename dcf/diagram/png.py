"""A picture as PNG.

The text is set in Noto Sans, which comes with the extra ``png``: so a picture looks the same on
every machine, and shows its text where no font is installed. Signs that this face does not have
are taken from the fonts of the machine, if it has any.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

from dcf.diagram.shapes import Picture
from dcf.diagram.svg import FONTS

_FACES = ("NotoSans_Regular", "NotoSans_Bold", "NotoSansMath_Regular")
_FAMILY = "Noto Sans"
_SHARPNESS = 2.0
_MOST_PIXELS = 24_000_000


class NoPng(Exception):
    """What draws PNG is not installed."""


def to_png(svg: str, picture: Picture) -> bytes:
    """``svg``, the text of ``picture``, as PNG: two pixels for one, fewer for a very big picture.
    Raises NoPng without the extra ``png``."""
    try:
        import resvg_py

        faces = [importlib.import_module(f"pymupdf_fonts.{name}").fontbuffer for name in _FACES]
    except ImportError as missing:
        raise NoPng(str(missing)) from missing
    area = max(picture.width * picture.height, 1.0)
    with tempfile.TemporaryDirectory(prefix="dcf-fonts-") as folder:
        for name, face in zip(_FACES, faces, strict=True):
            Path(folder, f"{name}.ttf").write_bytes(face)
        return resvg_py.svg_to_bytes(
            svg_string=svg.replace(FONTS, _FAMILY, 1),
            font_dirs=[folder],
            font_family=_FAMILY,
            sans_serif_family=_FAMILY,
            zoom=min(_SHARPNESS, (_MOST_PIXELS / area) ** 0.5),
        )
