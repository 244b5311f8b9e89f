"""Charts of a study: one a file, drawn by Altair when asked for, and nothing of that imported before."""

from karat.report.charts._chart import CHARTS, Chart, Missing
from karat.report.charts._comparison import comparison_charts
from karat.report.charts._draw import Drawing, draw, write_charts
from karat.report.charts._style import theme

__all__ = ["CHARTS", "Chart", "Drawing", "Missing", "comparison_charts", "draw", "theme", "write_charts"]
