"use strict";

// Diagrams. `ast` evaluates Vega's expressions without `eval`, which the page's policy forbids.
const specifications = JSON.parse(document.getElementById("specifications").textContent);
specifications.forEach((specification, number) => {
  const place = document.getElementById(`chart-${number}`);
  vegaEmbed(place, specification, { actions: false, ast: true, renderer: "svg" }).catch((error) => {
    place.textContent = `The diagram could not be drawn (${error.message}); its values are below.`;
    console.error(error);
  });
});
// What stands in a closed part has no width to be drawn in: Vega measures again on a resize.
document.addEventListener("toggle", () => dispatchEvent(new Event("resize")), true);

// Heat maps: a value's sentence on hover and focus; arrow keys move from cell to cell.
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
document.querySelectorAll(".heat-map").forEach((map) => {
  const { dataset, tHead, tBodies } = map.querySelector("table");
  const output = map.querySelector("output");
  const legend = output.textContent;
  const rows = [...tBodies[0].rows].map((row) => [...row.querySelectorAll("td")]);
  const focused = () => (map.contains(document.activeElement) ? document.activeElement : null);
  const sentence = (cell) => {
    const said = cell.dataset.said || cell.textContent;
    const row = cell.parentElement.cells[0].textContent;
    const column = tHead.rows[0].cells[cell.cellIndex].textContent;
    return said && `${dataset.row} ${row}, ${dataset.column} ${column}: ${said}`;
  };
  const show = (cell) => {
    output.textContent = (cell && cell.cellIndex && sentence(cell)) || legend;
  };
  rows.forEach((row, y) => row.forEach((cell, x) => {
    if (x || y) cell.tabIndex = -1;
    cell.addEventListener("mouseenter", () => show(cell));
    cell.addEventListener("mouseleave", () => show(focused()));
    cell.addEventListener("blur", () => show(null));
    cell.addEventListener("focus", () => {
      map.querySelector("td[tabindex='0']").tabIndex = -1;
      cell.tabIndex = 0;
      show(cell);
    });
    cell.addEventListener("keydown", (event) => {
      const [down, right] = STEPS[event.key] || [0, 0];
      const edge = { Home: row[0], End: row[row.length - 1] }[event.key];
      const next = edge || (rows[y + down] || [])[x + right];
      if (!next || next === cell) return;
      event.preventDefault();
      next.focus();
    });
  }));
});

// Tables: a button in each heading sorts by its column; cells without a number stand last.
const number = (text) => {
  const plain = text.replace("−", "-").replace(/[,%±]/g, "").trim();
  return plain && !Number.isNaN(Number(plain)) ? plain : "";
};
const order = new Intl.Collator("en", { numeric: true });
document.querySelectorAll(".sortable").forEach((table) => {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const ascending = heading.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const keyed = [...body.rows].map((row) => {
        const { dataset, textContent: text } = row.cells[column];
        const key = "number" in heading.dataset ? (dataset.key ?? number(text)) : dataset.key;
        return { row, key, text };
      });
      const sign = ascending ? 1 : -1;
      keyed.sort((a, b) => {
        if (a.key === undefined) return sign * order.compare(a.text, b.text);
        if (!a.key || !b.key) return (a.key ? 0 : 1) - (b.key ? 0 : 1);
        return sign * (Number(a.key) - Number(b.key));
      });
      body.append(...keyed.map(({ row }) => row));
    });
  });
});

// The filter of each table of cells.
document.querySelectorAll(".filter").forEach((place) => {
  const input = place.querySelector("input");
  const output = place.querySelector("output");
  const lines = [...document.getElementById(place.dataset.table).tBodies[0].rows].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
  }));
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    lines.forEach(({ row, text }) => {
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    });
    output.textContent = `${shown} of ${lines.length} cells`;
  };
  input.addEventListener("input", apply);
  place.hidden = false;
  apply();
});
