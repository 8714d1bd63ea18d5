"""Tables and curves for notebooks: static HTML and SVG, every text escaped."""
from __future__ import annotations

import html
from typing import Any, Sequence

_COLOURS = {"loss": "#1f6fb2", "validation_loss": "#c4501b", "accuracy": "#1f6fb2", "validation_accuracy": "#c4501b"}


def page(title: str, body: str) -> str:
    """One file, without scripts and without anything from elsewhere."""
    return ("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{html.escape(title)}</title></head><body style=\"font-family:sans-serif\">"
            f"<h1>{html.escape(title)}</h1>{body}</body></html>")


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns of numbers stand right."""
    def cell(tag: str, column: int, value: Any) -> str:
        side = "right" if rows and isinstance(rows[0][column], (int, float)) else "left"
        text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
        return f'<{tag} style="text-align:{side};padding:0.1em 0.6em">{html.escape(text)}</{tag}>'

    head = "".join(cell("th", column, name) for column, name in enumerate(heads))
    body = "".join("<tr>" + "".join(cell("td", column, value) for column, value in enumerate(row)) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def network(rows: list[dict[str, Any]], parameters: int, precision: str, weight_hash: str) -> str:
    """The layers with their shapes, parameters and cost."""
    lines = [(row["path"], row["type"], row["detail"], row["in"], row["out"], row["parameters"], row["flops"] / 1e6)
             for row in rows]
    return (table(("layer", "type", "", "in", "out", "parameters", "Mflop per sample"), lines)
            + f"<p>{parameters:,} parameters, {sum(row['flops'] for row in rows) / 1e6:.4g} Mflop per sample, "
            f"{html.escape(precision)}, weights <code>{weight_hash[:16]}</code></p>")


def curves(metrics: Sequence[dict[str, Any]], keys: Sequence[str], label: str) -> str:
    """One figure: a line per key over the epochs."""
    lines = {key: [(m["epoch"], m[key]) for m in metrics if key in m] for key in keys}
    lines = {key: points for key, points in lines.items() if points}
    if not lines:
        return ""
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points]
    low, high = min(ys), max(ys)
    x0, x1 = min(xs), max(max(xs), min(xs) + 1)
    spread = (high - low) or 1.0

    def place(x: float, y: float) -> str:
        return f"{40 + 320 * (x - x0) / (x1 - x0):.1f},{150 - 130 * (y - low) / spread:.1f}"

    def text(x: int, y: int, words: str, anchor: str = "start") -> str:
        return (f'<text x="{x}" y="{y}" font-size="10" fill="currentColor" text-anchor="{anchor}">'
                f"{html.escape(words)}</text>")

    parts = [text(40, 12, label), text(36, 24, f"{high:.3g}", "end"), text(36, 152, f"{low:.3g}", "end"),
             text(40, 166, f"epoch {x0}"), text(360, 166, str(max(xs)), "end"),
             '<path d="M40 20V150H360" fill="none" stroke="#999"/>']
    for i, (key, points) in enumerate(lines.items()):
        path = " ".join(place(x, y) for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{_COLOURS[key]}" stroke-width="2"/>')
        if len(points) == 1:
            x, y = path.split(",")
            parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="{_COLOURS[key]}"/>')
        part = "validation" if key.startswith("validation") else "training"
        parts.append(f'<text x="{200 + 80 * i}" y="12" font-size="10" fill="{_COLOURS[key]}">{part}</text>')
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="400" height="175" role="img" '
            f'aria-label="{html.escape(label)}">' + "".join(parts) + "</svg>")


def run(metrics: Sequence[dict[str, Any]], weight_hash: str) -> str:
    """Curves of loss and accuracy, and the last epoch."""
    figures = (curves(metrics, ("loss", "validation_loss"), "loss")
               + curves(metrics, ("accuracy", "validation_accuracy"), "accuracy"))
    last = metrics[-1] if metrics else {}
    shown = [(key.replace("_", " "), value) for key, value in last.items() if isinstance(value, (int, float))]
    return (figures + table([key for key, _ in shown], [[value for _, value in shown]])
            + f"<p>weights <code>{html.escape(weight_hash)}</code></p>")
