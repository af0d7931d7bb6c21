"""Three small plots as inline SVG: a value with its interval, values over time, samples by label.

Pure functions of numbers and names. Each drawing's name says its numbers in words; a value that isn't available has
no mark, and the words say so. Colours come from `plots.css`, and no meaning hangs on a colour alone.

Python's plotting libraries don't do this better: they bring a script for the page (plotly, altair, bokeh), an inline
`<style>` that the page's security policy refuses (pygal), or a numerical stack and glyphs as outlines that no screen
reader reads (matplotlib).
"""

from __future__ import annotations

from evalward.render.html.plots.interval import IntervalPlot, interval_plot
from evalward.render.html.plots.line import LinePlot, PlotMark, PlotPoint, line_plot
from evalward.render.html.plots.strip import StripPlot, StripRow, strip_plot
from evalward.render.html.plots.timeline import Timeline, timeline, trend_points
from evalward.render.html.plots.words import Level

__all__ = [
    "IntervalPlot",
    "Level",
    "LinePlot",
    "PlotMark",
    "PlotPoint",
    "StripPlot",
    "StripRow",
    "Timeline",
    "interval_plot",
    "line_plot",
    "strip_plot",
    "timeline",
    "trend_points",
]
