// The explorer: one chart over all traces of the page. No library; reads the data that explorer.py embedded.
"use strict";
const exploring = (async () => {
  const root = document.getElementById("explorer");
  const source = document.getElementById("explorer-data");
  if (!root || !source) return;
  const papers = JSON.parse(source.textContent);
  const experiments = Object.fromEntries(papers.flatMap((p) => p.experiments.map((e) => [e.id, e])));
  if (!papers.length) return;
  const $ = (name) => root.querySelector(`[data-control="${name}"]`);
  const NS = "http://www.w3.org/2000/svg";
  const LEFT = 72, RIGHT = 16, TOP = 14, BOTTOM = 46;
  let W = 900, H = 480; // of the chart's own coordinates, which a narrow screen makes smaller
  const DASHES = ["", "7 3", "2 2.5", "8 3 2 3", "4 2 1 2 1 2"];
  const AXES = { round: "rounds", exchanges: "exchanges", floats: "floats sent, both ways", gradients: "local gradients",
    hessians: "local Hessians", seconds: "seconds of computing", priced: "priced time, seconds" };
  const BITS = 64; // of a float on the wire
  const first = papers[0].experiments[0];
  const state = { e: first.id, s: 0, x: "round", y: first.measures[0], lx: 0, ly: 1, lat: 50, bw: 10, hide: [] };
  const decoded = {};
  let shown = [], current = null, scales = null;

  // --- data ---
  async function unpacked(script) { // of `numbers-fedsplit_fig1` or `clock-fedsplit_fig1`
    const bytes = Uint8Array.from(atob(script.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const bits = new Uint32Array(planes.length / 3); // float32 without the last byte: all second bytes, all third, all fourth
    for (let k = 0; k < 3; k++)
      for (let i = 0; i < bits.length; i++) bits[i] |= planes[k * bits.length + i] << 8 * (k + 1);
    decoded[script.id] = new Float32Array(bits.buffer);
  }
  function column(id, curve, where, rounds, kind = "numbers") {
    if (where === undefined) return rounds.map(() => 0);
    if (Array.isArray(where)) return rounds.map((t) => where[0] * t + where[1]);
    return Array.from(decoded[`${kind}-${id}`].subarray(where, where + curve.points));
  }
  function xs(id, curve) {
    const rounds = column(id, curve, curve.x.round);
    if (state.x === "round") return rounds;
    const of = (name) => column(id, curve, curve.x[name], rounds, name === "seconds" ? "clock" : "numbers");
    if (state.x !== "priced") return of(state.x);
    const seconds = of("seconds"), exchanges = of("exchanges"), floats = of("floats");
    return seconds.map((t, i) => t + exchanges[i] * state.lat / 1e3 + floats[i] * BITS / (state.bw * 1e6));
  }
  const settings = (experiment) => [...new Set(experiment.curves.map((c) => c.setting))];

  // --- the address: #explore;e=fedsplit_fig1;x=floats;… ---
  function toHash() {
    const words = Object.entries(state).map(([k, v]) => `${k}=${encodeURIComponent(Array.isArray(v) ? v.join(".") : v)}`);
    history.replaceState(null, "", `#explore;${words.join(";")}`);
  }
  function fromHash() {
    if (!location.hash.startsWith("#explore;")) return false;
    for (const word of location.hash.slice(9).split(";")) {
      const [key, raw] = word.split("=");
      if (!(key in state) || raw === undefined) continue;
      const value = decodeURIComponent(raw);
      if (key === "hide") state.hide = value ? value.split(".").map(Number) : [];
      else state[key] = typeof state[key] === "number" ? Number(value) || 0 : value;
    }
    return true;
  }
  function sane() {
    if (!experiments[state.e]) state.e = first.id;
    const experiment = experiments[state.e];
    state.s = Math.min(Math.max(0, state.s), settings(experiment).length - 1);
    if (!experiment.measures.includes(state.y)) state.y = experiment.measures[0];
    if (!(state.x in AXES)) state.x = "round";
    state.lat = Math.min(Math.max(state.lat, 0.1), 1e4);
    state.bw = Math.min(Math.max(state.bw, 0.01), 1e5);
  }

  // --- controls ---
  function fill(select, options, chosen) {
    select.replaceChildren(...options.map(([value, words]) => Object.assign(document.createElement("option"),
      { value, textContent: words, selected: String(value) === String(chosen) })));
  }
  function controls() {
    const paper = papers.find((p) => p.experiments.some((e) => e.id === state.e));
    const experiment = experiments[state.e];
    fill($("paper"), papers.map((p) => [p.name, p.name]), paper.name);
    fill($("experiment"), paper.experiments.map((e) => [e.id, e.name]), state.e);
    const kinds = settings(experiment);
    fill($("setting"), kinds.map((s, i) => [i, s || "as published"]), state.s);
    $("setting").closest("label").hidden = kinds.length < 2;
    const there = new Set(experiment.curves.flatMap((c) => Object.keys(c.x)));
    fill($("x"), Object.entries(AXES).filter(([k]) => there.has(k) || k === "priced"), state.x);
    fill($("y"), experiment.measures.map((m) => [m, m.replaceAll("_", " ")]), state.y);
    $("lx").checked = !!state.lx;
    $("ly").checked = !!state.ly;
    root.querySelector(".price").hidden = state.x !== "priced";
    $("lat").value = Math.log10(state.lat);
    $("bw").value = Math.log10(state.bw);
    root.querySelector('[data-said="lat"]').textContent = `${said(state.lat)} ms`;
    root.querySelector('[data-said="bw"]').textContent = `${said(state.bw)} Mbit/s`;
    root.querySelector(".about").textContent = experiment.about + "." + (experiment.left
      ? ` ${experiment.left} more grid points are left out: for every method those that end lowest are here.` : "");
  }

  // --- the chart ---
  function said(v) {
    if (v === 0) return "0";
    const size = Math.abs(v);
    if (size >= 1e6 || size < 1e-3) return v.toExponential(2).replace("e+", "e").replace(/\.?0+e/, "e");
    return size >= 100 ? Math.round(v).toLocaleString("en") : String(Number(v.toPrecision(3)));
  }
  function scale(values, log, from, to) {
    let low = Infinity, high = -Infinity;
    for (const v of values) if (Number.isFinite(v) && (!log || v > 0)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (low > high) [low, high] = log ? [0.1, 1] : [0, 1];
    if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
    const f = log ? Math.log10 : (v) => v;
    const a = f(low), b = f(high);
    const at = (v) => from + (f(v) - a) / (b - a) * (to - from);
    const ticks = [];
    if (log) {
      const step = Math.max(1, Math.ceil((b - a) / 8));
      for (let p = Math.ceil(a - 1e-9); p <= b + 1e-9; p += step) ticks.push(10 ** p);
      if (ticks.length < 2) ticks.splice(0, ticks.length, low, high);
    } else {
      const raw = (b - a) / (W < 600 ? 4 : 6), power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
      for (let t = Math.ceil(a / step) * step; t <= b + step * 1e-9; t += step) ticks.push(Math.abs(t) < step * 1e-9 ? 0 : t);
    }
    return { at: (v) => (!Number.isFinite(v) || (log && v <= 0) ? NaN : at(v)), ticks };
  }
  function make(tag, attributes, ...children) {
    const node = document.createElementNS(NS, tag);
    for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v);
    node.append(...children);
    return node;
  }
  function line(px, py) {
    let d = "", pen = false;
    px.forEach((x, i) => {
      if (Number.isFinite(x) && Number.isFinite(py[i])) { d += `${pen ? "L" : "M"}${x.toFixed(1)} ${py[i].toFixed(1)}`; pen = true; }
      else pen = false;
    });
    return d;
  }
  function named(curve, all) { return [curve.algorithm, all ? curve.params : curve.told].filter(Boolean).join(", "); }
  function draw() {
    sane();
    controls();
    [W, H] = root.clientWidth && root.clientWidth < 600 ? [420, 400] : [900, 480];
    const experiment = experiments[state.e], kind = settings(experiment)[state.s];
    const count = {};
    const all = experiment.curves.map((curve, index) => ({ curve, index })).filter(({ curve }) => curve.setting === kind && curve.y[state.y])
      .map((one) => {
        const order = count[one.curve.algorithm] = (count[one.curve.algorithm] ?? -1) + 1;
        const [middle, low, high] = one.curve.y[state.y].map((w) => column(state.e, one.curve, w));
        return { ...one, dash: DASHES[order % DASHES.length], x: xs(state.e, one.curve), y: middle, low, high };
      });
    shown = all.filter((c) => !state.hide.includes(c.index));
    const drawn = shown.length ? shown : all;
    scales = { x: scale(drawn.flatMap((c) => c.x), state.lx, LEFT, W - RIGHT),
               y: scale(drawn.flatMap((c) => c.y), state.ly, H - BOTTOM, TOP) };
    const chart = root.querySelector(".chart");
    chart.setAttribute("viewBox", `0 0 ${W} ${H}`);
    const body = [];
    for (const t of scales.x.ticks) body.push(make("line", { class: "grid", x1: scales.x.at(t), x2: scales.x.at(t), y1: TOP, y2: H - BOTTOM }),
      make("text", { class: "tick", x: scales.x.at(t), y: H - BOTTOM + 18, "text-anchor": "middle" }, said(t)));
    for (const t of scales.y.ticks) body.push(make("line", { class: "grid", y1: scales.y.at(t), y2: scales.y.at(t), x1: LEFT, x2: W - RIGHT }),
      make("text", { class: "tick", x: LEFT - 8, y: scales.y.at(t) + 4, "text-anchor": "end" }, said(t)));
    body.push(make("line", { class: "axis", x1: LEFT, x2: W - RIGHT, y1: H - BOTTOM, y2: H - BOTTOM }),
      make("line", { class: "axis", x1: LEFT, x2: LEFT, y1: TOP, y2: H - BOTTOM }),
      make("text", { class: "label", "data-axis": "x", x: (LEFT + W - RIGHT) / 2, y: H - 8, "text-anchor": "middle" }, AXES[state.x]),
      make("text", { class: "label", "data-axis": "y", transform: `translate(16 ${(TOP + H - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" },
        state.y.replaceAll("_", " ")));
    for (const c of shown) {
      c.px = c.x.map(scales.x.at);
      c.py = c.y.map(scales.y.at);
      if (c.low) {
        const clamp = (v) => (v <= 0 && state.ly ? H - BOTTOM : Math.min(H - BOTTOM, Math.max(TOP, scales.y.at(v))));
        const up = line(c.px, c.high.map(clamp)), back = line([...c.px].reverse(), [...c.low.map(clamp)].reverse());
        if (up && back) body.push(make("path", { class: "band", d: `${up}${back.replace("M", "L")}z`, style: `--c:${c.curve.colour}` }));
      }
      body.push(make("path", { class: "curve", d: line(c.px, c.py), "stroke-dasharray": c.dash, "data-curve": c.index, style: `--c:${c.curve.colour}` },
        make("title", {}, named(c.curve))));
    }
    if (!shown.length) body.push(make("text", { class: "label", x: W / 2, y: H / 2, "text-anchor": "middle" },
      all.length ? "everything is hidden" : "not measured on this setting"));
    body.push(make("g", { class: "cursor" }));
    chart.replaceChildren(...body);
    chart.setAttribute("aria-label", `${state.y} against ${AXES[state.x]}, ${shown.length} curves of ${state.e}`);
    legend(all);
    point(null);
  }
  function legend(all) {
    const held = document.activeElement?.closest?.(".legend li")?.dataset.curve, kind = document.activeElement?.className;
    root.querySelector(".legend").replaceChildren(...all.map((c) => {
      const item = document.createElement("li");
      const hidden = state.hide.includes(c.index);
      item.dataset.curve = c.index;
      const toggle = Object.assign(document.createElement("button"), { type: "button", className: "toggle", title: "show or hide" });
      toggle.setAttribute("aria-pressed", String(!hidden));
      const key = make("svg", { width: 28, height: 10, "aria-hidden": "true" },
        make("path", { class: "curve", d: "M1 5H27", "stroke-dasharray": c.dash, style: `--c:${c.curve.colour}` }));
      toggle.append(key, " ", named(c.curve));
      toggle.addEventListener("click", () => { flip(c.index); });
      const only = Object.assign(document.createElement("button"), { type: "button", className: "only", textContent: "only" });
      only.setAttribute("aria-label", `only ${named(c.curve)}`);
      only.addEventListener("click", () => isolate(c.index));
      item.append(toggle, only);
      return item;
    }));
    if (held !== undefined) root.querySelector(`.legend li[data-curve="${held}"] button.${kind}`)?.focus();
  }
  function flip(index) {
    state.hide = state.hide.includes(index) ? state.hide.filter((i) => i !== index) : [...state.hide, index];
    change();
  }
  function isolate(index) {
    const kind = settings(experiments[state.e])[state.s];
    const others = experiments[state.e].curves.map((c, i) => [c, i]).filter(([c, i]) => c.setting === kind && i !== index).map(([, i]) => i);
    const already = others.every((i) => state.hide.includes(i)) && !state.hide.includes(index);
    state.hide = already ? [] : others;
    change();
  }
  function change() { draw(); toHash(); }

  // --- reading values: mouse, touch and arrow keys ---
  function point(found) {
    current = found;
    const cursor = root.querySelector(".cursor"), words = root.querySelector(".reading");
    cursor.replaceChildren();
    root.querySelectorAll(".chart .curve").forEach((p) => p.classList.toggle("faint", !!found && Number(p.dataset.curve) !== found.c.index));
    if (!found) { words.textContent = "Point at a curve, or focus the chart and use the arrow keys."; return; }
    const { c, i } = found;
    cursor.append(make("circle", { cx: c.px[i], cy: c.py[i], r: 4.5, class: "curve", style: `--c:${c.curve.colour}` }));
    const band = c.low ? ` [${said(c.low[i])}, ${said(c.high[i])}] over ${c.curve.seeds} seeds` : "";
    const ended = Object.entries(c.curve.ended).map(([k, n]) => `${n} ${k}`).join(", ");
    words.textContent = `${named(c.curve, true)}: ${state.y.replaceAll("_", " ")} ${said(c.y[i])}${band} at ${said(c.x[i])} ${AXES[state.x]} (${ended})`;
  }
  function nearest(event) {
    const chart = root.querySelector(".chart"), box = chart.getBoundingClientRect();
    const mx = (event.clientX - box.left) / box.width * W, my = (event.clientY - box.top) / box.height * H;
    let best = null, away = 40 ** 2;
    for (const c of shown) c.px.forEach((x, i) => {
      if (!Number.isFinite(c.py[i])) return;
      let d = (x - mx) ** 2 + (c.py[i] - my) ** 2;
      if (i && Number.isFinite(c.py[i - 1])) { // between two kept points the curve is a segment
        const dx = x - c.px[i - 1], dy = c.py[i] - c.py[i - 1], n = dx * dx + dy * dy;
        const t = n ? Math.min(1, Math.max(0, ((mx - c.px[i - 1]) * dx + (my - c.py[i - 1]) * dy) / n)) : 0;
        d = Math.min(d, (c.px[i - 1] + t * dx - mx) ** 2 + (c.py[i - 1] + t * dy - my) ** 2);
        if (d < away) { away = d; best = { c, i: t < 0.5 ? i - 1 : i }; return; }
      }
      if (d < away) { away = d; best = { c, i }; }
    });
    return best;
  }
  const chart = root.querySelector(".chart");
  chart.addEventListener("pointermove", (event) => point(nearest(event)));
  chart.addEventListener("pointerdown", (event) => point(nearest(event)));
  chart.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") point(null); });
  chart.addEventListener("click", (event) => { const found = nearest(event); if (found) isolate(found.c.index); });
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape") { point(null); return; }
    if (event.key === "Enter" && current) { isolate(current.c.index); return; }
    if (!step || !shown.length) return;
    event.preventDefault();
    const at = current ? shown.indexOf(current.c) : 0, c = shown[(at + step[0] + shown.length) % shown.length];
    const start = current ? current.i : 0;
    let i = Math.min(c.x.length - 1, Math.max(0, start + (current ? step[1] : 0)));
    while (i > 0 && !Number.isFinite(c.py[i])) i -= 1;
    point({ c, i });
  });

  // --- what a reader takes away ---
  function save(name, type, text) {
    const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  function csv() {
    const quote = (v) => (/[",\n]/.test(v) ? `"${v.replaceAll('"', '""')}"` : v);
    const lines = [["method", "parameters", "setting", state.x, state.y, "lowest", "highest", "seeds"].join(",")];
    for (const c of shown) c.x.forEach((x, i) => lines.push([quote(c.curve.algorithm), quote(c.curve.params), quote(c.curve.setting), x, c.y[i],
      c.low ? c.low[i] : "", c.high ? c.high[i] : "", c.curve.seeds].join(",")));
    return lines.join("\n") + "\n";
  }
  function picture() {
    const copy = chart.cloneNode(true), rows = shown.length;
    copy.setAttribute("xmlns", NS);
    copy.setAttribute("viewBox", `0 0 ${W} ${H + 18 * rows + 8}`);
    copy.querySelector(".cursor")?.remove();
    shown.forEach((c, i) => copy.append(
      make("path", { class: "curve", d: `M${LEFT} ${H + 18 * i + 8}h28`, "stroke-dasharray": c.dash, style: `--c:${c.curve.colour}` }),
      make("text", { x: LEFT + 36, y: H + 18 * i + 12 }, named(c.curve))));
    copy.prepend(make("style", {}, "text{font:13px sans-serif}.grid{stroke:#e4e4e4}.axis{stroke:#000}.tick,.label{font-size:13px}"
      + ".curve{fill:none;stroke-width:2}.band{opacity:.18;stroke:none}"));
    copy.querySelectorAll(".curve").forEach((p) => p.setAttribute("stroke", p.style.getPropertyValue("--c")));
    copy.querySelectorAll(".band").forEach((p) => p.setAttribute("fill", p.style.getPropertyValue("--c")));
    return new XMLSerializer().serializeToString(copy);
  }
  root.querySelector('[data-save="svg"]').addEventListener("click", () => save(`${state.e}_${state.y}.svg`, "image/svg+xml", picture()));
  root.querySelector('[data-save="csv"]').addEventListener("click", () => save(`${state.e}_${state.y}.csv`, "text/csv", csv()));
  root.querySelector('[data-save="all"]').addEventListener("click", () => { state.hide = []; change(); });

  for (const name of ["paper", "experiment", "setting", "x", "y", "lx", "ly", "lat", "bw"]) {
    $(name).addEventListener("input", (event) => {
      const control = event.target;
      if (name === "paper") { Object.assign(state, { e: papers.find((p) => p.name === control.value).experiments[0].id, s: 0, hide: [] }); }
      else if (name === "experiment") Object.assign(state, { e: control.value, s: 0, hide: [] });
      else if (name === "setting") Object.assign(state, { s: Number(control.value), hide: [] });
      else if (name === "lx" || name === "ly") state[name] = Number(control.checked);
      else if (name === "lat" || name === "bw") state[name] = Number((10 ** Number(control.value)).toPrecision(3));
      else state[name] = control.value;
      change();
    });
  }
  document.querySelectorAll("[data-explore]").forEach((link) => link.addEventListener("click", () => {
    Object.assign(state, { e: link.dataset.explore, s: 0, hide: [] });
    draw();
  }));
  addEventListener("hashchange", () => { if (fromHash()) { draw(); root.scrollIntoView(); } });
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
  await Promise.all([...document.querySelectorAll('script[id^="numbers-"], script[id^="clock-"]')].map(unpacked));
  root.hidden = false;
  const sent = fromHash();
  draw();
  if (sent) root.scrollIntoView();
})();
