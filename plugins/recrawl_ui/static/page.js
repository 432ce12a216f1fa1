"use strict";
const LOOK_MILLISECONDS = 5000;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function copyButtons() {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
      } catch {  // not a secure context, or not allowed in this frame: select it, so that Ctrl-C copies
        getSelection().selectAllChildren(button.previousElementSibling);
        if (!document.execCommand("copy")) { button.textContent = "Press Ctrl-C"; return; }
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
}

function filterHosts() {
  const field = document.getElementById("filter");
  if (!field) return;
  field.addEventListener("input", () => {
    for (const row of document.querySelectorAll("#hosts tbody tr")) {
      row.hidden = !row.cells[0].textContent.includes(field.value.trim().toLowerCase());
    }
  });
}

// Asks for the progress of running cycles, and loads the page anew when the rest of it is out of date.
function watch() {
  const place = document.getElementById("progress");
  if (!place) return;
  setInterval(async () => {
    if (document.hidden) return;
    const shown = document.getElementById("mark").dataset.mark;
    let answer;
    try { answer = await fetch(place.dataset.url); } catch { return; }
    if (!answer.ok) return;
    place.innerHTML = await answer.text();  // made and escaped by our server
    document.getElementById("live").hidden = !place.querySelector(".running");
    if (document.getElementById("mark").dataset.mark !== shown) location.reload();
  }, LOOK_MILLISECONDS);
}

function plots() {
  const holder = document.querySelector("[data-plot]");
  if (!holder || !window.uPlot) return;
  const given = JSON.parse(holder.dataset.plot);
  const grid = { stroke: colour("--line"), width: 1 };
  const axis = { stroke: colour("--faint"), grid, ticks: grid, font: "12px system-ui, sans-serif" };
  const day = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });
  const common = { height: 240, tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"), cursor: { points: { size: 7 } } };

  // A chart over instants `at`; its legend shows the last of them until the pointer is on another.
  const draw = (id, at, label, series, columns, y) => {
    const into = document.getElementById(id);
    const margin = Math.max(86400, at.at(-1) - at[0]) * 0.06;
    const show = (plot) => { if (plot.cursor.idx == null) plot.setLegend({ idx: at.length - 1 }); };
    const days = {
      ...axis,
      splits: (plot) => {
        const first = Math.ceil((at[0] - margin) / 86400) * 86400;
        const count = Math.floor((at.at(-1) + margin - first) / 86400) + 1;
        const step = Math.max(1, Math.ceil(count * 56 / plot.width));
        return Array.from({ length: Math.ceil(count / step) }, (_, place) => first + place * step * 86400);
      },
      values: (_, found) => found.map((each) => day.format(new Date(each * 1000))),
    };
    const x = { label: label.name, value: (_, each) => each == null ? "" : new Date(each * 1000).toISOString().slice(0, label.length).replace("T", " ") };
    const plot = new uPlot({
      ...common, width: into.clientWidth, series: [x, ...series], axes: [days, { ...axis, ...y.axis }],
      scales: { x: { range: () => [at[0] - margin, at.at(-1) + margin] }, y: y.scale },
      hooks: { ready: [show], setCursor: [show] },
    }, [at, ...columns], into);
    new ResizeObserver(() => plot.setSize({ width: into.clientWidth, height: common.height })).observe(into);
  };

  const line = (label, name, dash) => ({
    label, stroke: colour(name), width: 2, dash, points: { show: true, size: 6, fill: colour("--card") },
    value: (_, found) => found == null ? "" : `${found.toFixed(1)} %`,
  });
  draw("shares", given.published, { name: "published", length: 16 },
    [line("fetched of known", "--blue"), line("live, seen in a day", "--green"), line("in 7 days", "--amber", [6, 4])],
    [given.covered, given.fresh_day, given.fresh_week],
    { scale: { range: [0, 103] }, axis: { values: (_, found) => found.map((each) => `${each} %`), size: 56 } });

  const parts = [given.unchanged, given.changed, given.first_fetched];
  const upTo = (last) => given.cycle.map((_, place) => parts.slice(0, last + 1).reduce((sum, part) => sum + part[place], 0));
  const bars = (label, name, part) => ({
    label, stroke: colour(name), fill: colour(name), width: 0, points: { show: false },
    paths: uPlot.paths.bars({ size: [0.6, 40] }),
    value: (_, __, ___, place) => place == null ? "" : part[place].toLocaleString("en"),
  });
  draw("pages", given.cycle, { name: "cycle", length: 10 },
    [bars("new", "--blue", given.first_fetched), bars("changed", "--amber", given.changed), bars("unchanged", "--grey", given.unchanged)],
    [upTo(2), upTo(1), upTo(0)],
    { scale: { range: (_, __, most) => [0, Math.max(1, most * 1.08)] }, axis: { values: (_, found) => found.map((each) => each.toLocaleString("en")), size: 64 } });
}

copyButtons();
filterHosts();
watch();
plots();
