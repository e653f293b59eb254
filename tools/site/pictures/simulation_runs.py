"""Draw the scenarios of ``kap simulate`` as pictures for the documentation.

python -m tools.site.pictures.simulation_runs        # writes docs/pictures/simulation-NAME.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

from kafka_admin_proto.render.sequence import sequence_svg
from kafka_admin_proto.simulation.output.page import diagram
from kafka_admin_proto.simulation.scenarios import SCENARIOS

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
#: The run that a picture shows; random runs have none.
SEED, STEPS = 0, 100
_NO_PICTURE = ("random",)


def pictures() -> dict[str, str]:
    """File name → the picture of a scenario."""
    return {
        f"simulation-{name}.svg": sequence_svg(
            diagram(run(SEED, STEPS).trace, f"KIP-516: {name}", [])
        )
        for name, run in SCENARIOS.items()
        if name not in _NO_PICTURE
    }


def main() -> None:
    """Write all pictures, and say so."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures().items():
        (FOLDER / name).write_text(svg, "utf-8")
        sys.stdout.write(f"written: {FOLDER.name}/{name}\n")


if __name__ == "__main__":
    main()
