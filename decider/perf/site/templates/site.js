"use strict";

// Filters: a line stays when every word occurs in it.
document.querySelectorAll(".filter input").forEach((filter) => {
  const lines = [...document.getElementById(filter.dataset.table).tBodies[0].rows].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
  }));
  const output = filter.parentElement.querySelector("output");
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    lines.forEach(({ row, text }) => {
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    });
    output.textContent = `${shown} of ${lines.length} lines`;
  };
  filter.addEventListener("input", apply);
  filter.parentElement.hidden = false;
  apply();
});

// The history of one cell, on the pages of benchmarks.
const view = document.getElementById("history");
if (view) {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const { commits, cells } = read("data");
  const links = [...document.querySelectorAll("#all-cells tbody a")];
  const heading = document.getElementById("shown");
  const chart = view.querySelector(".chart");

  // A commit without a value has no record: the line goes on to the next one that has.
  const records = (cell) => cell.stretches.flatMap(([environment, version, first, values], stretch) =>
    values.flatMap((value, place) => {
      if (value === null) return [];
      const number = first + place;
      const [commit, date] = commits[number];
      return [{
        number: number + 1, value, stretch, commit, date, version,
        environment: String(environment + 1),
        text: `${value} ${cell.unit}`.trim(),
      }];
    }));

  const draw = (cell, points) => {
    if (!points.length) {
      chart.textContent = "No value was measured.";
      return;
    }
    if (!window.vegaEmbed) return;
    const specification = read("specification");
    specification.datasets = {
      points: points.map((point) => ({ ...point, commit: point.commit.slice(0, 12) })),
      changes: cell.changes.map(([, number, , word, size, standing]) => (
        { number: number + 1, what: `${word[0]} ${size} ${standing.includes("chance") ? "?" : ""}` })),
    };
    if (!cell.changes.length) { // an empty set of data makes Vega warn of an infinite extent
      specification.layer = specification.layer.filter(({ data }) => data.name !== "changes");
    }
    // `ast` evaluates Vega's expressions without `eval`, which the page's policy forbids.
    const options = { actions: false, ast: true, renderer: "svg" };
    window.vegaEmbed(chart, specification, options).catch((error) => {
      chart.textContent = `The diagram could not be drawn (${error.message}); its values are below.`;
      console.error(error);
    });
  };

  const tabulate = (cell, points) => {
    const changed = new Map(cell.changes.map(([, number, ...said]) => [number + 1, said.filter(Boolean).join(", ")]));
    const rows = [...points].sort((a, b) => b.number - a.number).map((point) => {
      const row = document.createElement("tr");
      const commit = document.createElement("a");
      commit.href = `../commits/${point.commit}.html`;
      commit.textContent = point.commit.slice(0, 8);
      const contents = [point.number, commit, point.date, point.text, point.environment,
        point.version, changed.get(point.number) || ""];
      contents.forEach((content) => row.insertCell().append(content));
      return row;
    });
    document.querySelector("#values tbody").replaceChildren(...rows);
  };

  const say = (cell, points) => {
    const name = (number) => `${commits[number][0].slice(0, 8)} (commit ${number + 1})`;
    const said = cell.changes.map(([after, number, ...what]) =>
      `${what.filter(Boolean).join(", ")}: after ${name(after)} up to ${name(number)}`);
    const none = points.length ? "No change was found." : "No value was measured.";
    document.getElementById("changes-said").textContent =
      said.length ? `Changes: ${said.join("; ")}.` : none;
  };

  let shown;
  const show = () => {
    const asked = links.findIndex((link) => link.hash === location.hash);
    const number = asked < 0 ? 0 : asked;
    if (!links.length || number === shown) return;
    shown = number;
    links.forEach((link, place) => {
      if (place === number) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    const cell = cells[number];
    const points = records(cell);
    heading.textContent = links[number].textContent;
    document.getElementById("unit").textContent = cell.unit || "the benchmark's own unit";
    view.hidden = false;
    say(cell, points);
    tabulate(cell, points);
    draw(cell, points);
    if (asked >= 0) heading.focus();
  };
  window.addEventListener("hashchange", show);
  show();

  const program = document.createElement("script");
  program.src = document.body.dataset.charts;
  program.addEventListener("load", () => draw(cells[shown], records(cells[shown])));
  program.addEventListener("error", () => {
    chart.textContent = "The diagram's program, vega.js, is missing; the values are below.";
  });
  if (links.length) document.body.append(program);
}
