"""The price of a network as sliders: a piece of page that needs nothing else."""

import json
from html import escape

import numpy as np

from fedrepro.papers.arena import readings
from fedrepro.reporting.names import called

SCRIPT = """
(function () {
  const box = document.getElementById("ID"), data = DATA, places = box.querySelectorAll("input");
  const digits = x => x >= 0.01 && x < 1e4 ? String(+x.toPrecision(2)) : x.toExponential(1);
  function look() {
    const [latency, bandwidth, gradient] = Array.from(places, p => Math.pow(10, +p.value));
    [latency, bandwidth, gradient].forEach((x, i) => box.querySelectorAll("output")[i].textContent = digits(x));
    let out = "";
    for (const [kind, problems] of Object.entries(data.classes)) {
      const wins = {};
      for (const cells of problems) {
        let best = Infinity, who = "nobody arrives";
        for (const [method, exchanges, floats, work] of cells) {
          const time = exchanges * latency + floats * data.bytes / bandwidth + work * gradient;
          if (time < best) { best = time; who = data.names[method]; }
        }
        wins[who] = (wins[who] || 0) + 1;
      }
      const order = Object.entries(wins).sort((a, b) => b[1] - a[1]);
      out += "<tr><th>" + kind + "</th><td>" + order.map(([who, n]) =>
        who + " (" + Math.round(100 * n / problems.length) + " %)").join(", ") + "</td></tr>";
    }
    box.querySelector("tbody").innerHTML = out;
  }
  places.forEach(p => p.addEventListener("input", look));
  look();
})();
"""


def sliders(results, table, place: str = "arena-network") -> str:
    """Latency, bandwidth and the time of a gradient; who comes first on which share of each class's problems."""
    names = sorted(table["algorithm"].unique())
    classes = {}
    for kind, experiments in readings.CLASSES.items():
        part, length = readings.of_class(table, kind), readings.points(readings.facts(results, *experiments))
        part = part[part["target"] == readings.ROUGH]
        classes[kind] = [cells(group, names, length) for _, group in part.groupby(["problem", "seed"])]
    data = {"names": [escape(called(n)) for n in names], "bytes": readings.BYTES, "classes": classes}
    script = SCRIPT.replace("ID", place, 1).replace("DATA", json.dumps(data), 1)
    rows = "".join(
        f"<p><label>{words} <input type='range' min='{low}' max='{high}' step='0.1' value='{value}'></label> <output></output></p>"
        for words, low, high, value in (
            ("latency of an exchange, seconds", -4, 1, -1),
            ("bandwidth of a client, bytes a second", 3, 9, 6),
            ("a full local gradient, seconds", -5, 1, -3),
        )
    )
    return f"<div id='{place}'>{rows}<table><tbody></tbody></table></div><script>{script}</script>"


def cells(group, names: list[str], length) -> list[list[float]]:
    """Method, exchanges, a client's floats and gradients of everybody who arrived on a problem."""
    arrived = group[np.isfinite(group["trips"])]
    return [
        [names.index(c.algorithm), c.exchanges, c.trips * float(length[c.problem]), round(c.equivalents, 3)]
        for c in arrived.itertuples()
    ]
