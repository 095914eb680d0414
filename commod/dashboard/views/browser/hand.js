// Figures and dots of a model, drawn here and not by the server: they follow the hand along the slider and along the
// curve of the trade-off from the models that are known. The server hears of it when the hand lets go.

const ROWS = 4, COLUMNS = 25, PITCH = 14;
const NEAR = 22; // pixels between the pointer and a point of the curve
const AFTER_KEY = 600; // milliseconds in which a key moves the slider
const SHAPES = {
  circle: "M-4.1,0a4.1,4.1 0 1,0 8.2,0a4.1,4.1 0 1,0 -8.2,0",
  up: "M0,-5.6L6,4.6H-6Z",
  down: "M0,5.6L6,-4.6H-6Z",
};
const svgElement = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);

class Hand {
  constructor(root) {
    this.root = root;
    this.box = root.querySelector(".hand");
    this.ghost = root.querySelector(".ghost");
    this.listening = new AbortController();
    const listen = (name, heard) =>
      document.addEventListener(name, heard.bind(this), { capture: true, signal: this.listening.signal });
    listen("pointerdown", this.pressed);
    listen("pointerup", this.released);
    listen("pointercancel", this.released);
    listen("keydown", this.typed);
    listen("pointermove", this.moved);
    listen("pointerout", this.left);
    listen("click", this.clicked);
  }

  stop() {
    this.listening.abort();
    this.watching = 0;
  }

  // ---- what is drawn ----

  take(data, send) {
    this.data = data;
    this.send = send;
    if (this.layout !== data.layout) this.build();
    this.rest();
  }

  rest() {
    if (!this.watching || performance.now() > this.watching) this.show(this.data.here);
    this.ghost.hidden = true;
  }

  build() {
    const { names, groups, many } = this.data;
    this.layout = this.data.layout;
    this.box.classList.toggle("many", many);
    this.values = names.map((name) => {
      const cell = document.createElement("div"), title = document.createElement("dt");
      title.textContent = name;
      const value = document.createElement("dd");
      cell.append(title, value);
      return [cell, value];
    });
    this.box.querySelector(".figures").replaceChildren(...this.values.map(([cell]) => cell));
    this.groups = Array.from({ length: groups }, () => this.group());
    this.groups.forEach(({ svg }) => svg.setAttribute("aria-label", this.data.alt));
    this.box.querySelector(".groups").replaceChildren(...this.groups.map(({ element }) => element));
    this.shown = null;
  }

  group() {
    const element = document.createElement("div"), label = document.createElement("p"), svg = svgElement("svg");
    element.className = "group";
    label.className = "label";
    svg.setAttribute("viewBox", `0 0 ${COLUMNS * PITCH} ${ROWS * PITCH}`);
    svg.setAttribute("role", "img");
    const dots = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
      const dot = svgElement("path"), title = svgElement("title");
      const x = (Math.floor(i / ROWS) + 0.5) * PITCH, y = ((i % ROWS) + 0.5) * PITCH;
      dot.setAttribute("transform", `translate(${x},${y})`);
      dot.append(title);
      svg.append(dot);
      return { dot, title, kind: -1 };
    });
    element.append(label, svg);
    return { element, label, svg, dots };
  }

  show(model) {
    if (model === this.shown) return;
    this.shown = model;
    model.figures.forEach((text, i) => (this.values[i][1].textContent = text));
    model.groups.forEach(([now, raised, lowered], i) => {
      const { label, dots } = this.groups[i];
      label.textContent = model.labels[i];
      dots.forEach((each, n) =>
        this.paint(each, n < now - raised ? 0 : n < now ? 1 : n < now + lowered ? 2 : 3));
    });
  }

  // 0: positive as before, 1: positive now, 2: negative now, 3: negative as before
  paint(each, kind) {
    if (each.kind === kind) return;
    each.kind = kind;
    const positive = kind < 2, better = positive === this.data.good;
    const shape = kind === 0 || kind === 3 ? "circle" : better ? "up" : "down";
    each.dot.setAttribute("d", SHAPES[shape]);
    each.dot.setAttribute("class", `${better ? "good" : "bad"} ${positive ? "said" : "unsaid"}`);
    each.title.textContent = this.data.states[kind];
  }

  // ---- along the slider ----

  ofSlider(event) {
    const slider = document.querySelector(`.st-key-${this.data.slider}`);
    return slider !== null && slider.contains(event.target);
  }

  pressed(event) {
    if (this.ofSlider(event)) this.watch(Infinity);
  }

  released() {
    if (this.watching === Infinity) this.watch(AFTER_KEY);
  }

  typed(event) {
    if (this.ofSlider(event) && this.watching !== Infinity) this.watch(AFTER_KEY);
  }

  watch(milliseconds) {
    const runs = this.watching && performance.now() <= this.watching;
    this.watching = performance.now() + milliseconds;
    if (!runs) requestAnimationFrame(() => this.look());
  }

  look() {
    if (!this.watching || performance.now() > this.watching) {
      this.ghost.hidden = true;
      this.followed = null;
      return;
    }
    const thumb = document.querySelector(`.st-key-${this.data.slider} input[type="range"]`);
    const model = thumb && this.data.line.find(({ at }) => at === thumb.getAttribute("aria-valuetext"));
    const mark = model && this.marks("line")[model.mark];
    // Where a mark is, is asked only when it is another: to know it, the browser lays out the page.
    if (model && (model !== this.followed?.model || mark !== this.followed.mark)) {
      this.followed = { model, mark };
      this.follow(model, mark);
    }
    requestAnimationFrame(() => this.look());
  }

  follow(model, mark) {
    this.show(model);
    this.ghost.hidden = !mark;
    if (!mark) return;
    const { left, top, width, height } = mark.getBoundingClientRect();
    this.ghost.style.left = `${left + width / 2}px`;
    this.ghost.style.top = `${top + height / 2}px`;
    this.ghost.dataset.setting = model.words;
  }

  // ---- along the curve ----

  marks(kind) {
    const found = document.querySelectorAll(`.st-key-pareto path[aria-label^="${this.data.marks[kind]}"]`);
    return found.length === this.data.drawn[kind] ? found : [];
  }

  nearest(event) {
    const chart = document.querySelector(".st-key-pareto");
    if (this.data.fixed || !chart || !chart.contains(event.target)) return null;
    if ((event.target.getAttribute?.("aria-label") ?? "").startsWith(this.data.marks.tried)) return null;
    let best = null, least = NEAR;
    for (const kind of ["line", "frontier"]) {
      const marks = this.marks(kind);
      if (!marks.length) continue;
      for (const model of this.data[kind]) {
        const mark = marks[model.mark];
        const { left, top, width, height } = mark.getBoundingClientRect();
        const distance = Math.hypot(left + width / 2 - event.clientX, top + height / 2 - event.clientY);
        if (distance < least) [least, best] = [distance, { kind, model, mark }];
      }
    }
    return best;
  }

  moved(event) {
    if (this.watching && performance.now() <= this.watching) return;
    const found = this.nearest(event);
    if (found) this.follow(found.model, found.mark);
    else this.rest();
  }

  left(event) {
    if (event.relatedTarget === null) this.rest(); // out of the window
  }

  clicked(event) {
    const found = this.nearest(event);
    if (!found) return;
    event.stopPropagation();
    this.send("go", `${found.kind} ${found.model.place}`);
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  parentElement.hand ??= new Hand(parentElement);
  parentElement.hand.take(data, setTriggerValue);
  return () => parentElement.hand.stop();
}
