"""Draw an example workflow: ``python docs/images/draw_machine.py FILE > machine.svg``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dcf.diagram import arrange, read_chart, to_svg


def draw(file: Path) -> str:
    """The machine in ``file`` as SVG."""
    chart = read_chart(json.loads(file.read_text("utf-8")))
    return to_svg(arrange(chart), chart.machine.title)


if __name__ == "__main__":
    sys.stdout.write(draw(Path(sys.argv[1])))
