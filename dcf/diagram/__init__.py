"""Pictures of state machines: Mermaid text, SVG and PNG.

Pure, but for PNG, whose fonts need a folder for a moment: the JSON of a definition goes in, and
what a run did with its states, as plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.diagram.boxes import arrange
    from dcf.diagram.chart import Chart, Edge, Machine, Node, Place, all_nodes
    from dcf.diagram.lettering import clean, width_of, wrap
    from dcf.diagram.look import Look, RunLook, Status, Way
    from dcf.diagram.mermaid import to_mermaid
    from dcf.diagram.palette import DARK, LIGHT, Theme
    from dcf.diagram.png import NoPng, to_png
    from dcf.diagram.reading import read_chart
    from dcf.diagram.shapes import Direction, Picture
    from dcf.diagram.svg import FONTS, to_svg
else:
    export_late(__name__)

__all__ = [
    "DARK",
    "FONTS",
    "LIGHT",
    "Chart",
    "Direction",
    "Edge",
    "Look",
    "Machine",
    "NoPng",
    "Node",
    "Picture",
    "Place",
    "RunLook",
    "Status",
    "Theme",
    "Way",
    "all_nodes",
    "arrange",
    "clean",
    "read_chart",
    "to_mermaid",
    "to_png",
    "to_svg",
    "width_of",
    "wrap",
]
