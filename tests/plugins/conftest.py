"""Puts plugins/ on the path, as Airflow does."""

import sys
from pathlib import Path

PLUGINS = Path(__file__).parents[2] / "plugins"
if str(PLUGINS) not in sys.path:
    sys.path.append(str(PLUGINS))
