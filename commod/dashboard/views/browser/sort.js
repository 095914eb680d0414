// Tables that are sorted by a click on a heading and folded by family, in the browser: the server is not asked.
// The rows are the server's (see `sortable_table`); they are moved here and never made. When it fills a cell further,
// the order is made anew.

const number = (cell) => (cell.dataset.key === undefined || cell.dataset.key === "" ? NaN : Number(cell.dataset.key));

class Sorted {
  constructor(table) {
    this.table = table;
    this.column = 0; // 0: by family, in the order of the server
    this.turned = false;
    this.folded = new Set();
    this.watching = new MutationObserver(() => this.arrange());
    this.arrange();
  }

  headings() {
    return [...this.table.tHead.rows[0].cells];
  }

  // By a heading: the best first, then the worst first, then by family again.
  by(column) {
    if (column !== this.column) [this.column, this.turned] = [column, false];
    else if (column && !this.turned) this.turned = true;
    else [this.column, this.turned] = [0, false];
    this.arrange();
  }

  fold(family) {
    if (!this.folded.delete(family)) this.folded.add(family);
    this.arrange();
  }

  arrange() {
    this.watching.disconnect(); // of what is done here
    const body = this.table.tBodies[0], rows = [...body.rows], place = (row) => Number(row.dataset.place);
    const heading = this.headings()[this.column];
    const sign = (heading?.dataset.best === "-1" ? 1 : -1) * (this.turned ? -1 : 1);
    const value = (row) => (row.dataset.head ? NaN : number(row.cells[this.column]));
    const before = (one, other) => {
      if (!this.column) return place(one) - place(other);
      const [a, b] = [value(one), value(other)];
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b) || place(one) - place(other);
      return sign * (a - b) || place(one) - place(other);
    };
    const ordered = [...rows].sort(before);
    if (ordered.some((row, i) => row !== rows[i])) body.append(...ordered);
    for (const row of rows) {
      const folded = this.folded.has(row.dataset.family), head = row.dataset.head;
      // Sorted by a column, the heading of a family stands below, and only if there is something to unfold.
      row.hidden = head ? this.column > 0 && !folded : folded;
      if (head) row.querySelector("button").setAttribute("aria-expanded", String(!folded));
    }
    this.headings().forEach((cell, i) => {
      const falls = sign < 0 ? "descending" : "ascending";
      if (i) cell.setAttribute("aria-sort", i === this.column ? falls : "none");
    });
    this.watching.observe(this.table, { subtree: true, childList: true, characterData: true, attributeFilter: ["data-key"] });
  }
}

const known = new WeakMap();

const sortedOf = (table) => {
  if (!known.has(table)) known.set(table, new Sorted(table));
  return known.get(table);
};

export default function () {
  const listening = new AbortController();
  document.addEventListener(
    "click",
    (event) => {
      const button = event.target.closest?.(".cx-sortable button");
      if (!button) return;
      const sorted = sortedOf(button.closest("table"));
      const head = button.closest("tr[data-head]");
      if (head) sorted.fold(head.dataset.family);
      else sorted.by(button.closest("th").cellIndex);
    },
    { signal: listening.signal },
  );
  return () => listening.abort();
}
