// The first picture of a model: verdict, figures, dots, and its point on the trade-off. It follows the hand along every
// slider and along the curve: the picture of each setting comes from GET /model, which trains it if needed. Streamlit
// hears of a slider when it is released, and draws the rest of the page.

const ROWS = 4, COLUMNS = 25, PITCH = 14;
const NEAR = 22; // pixels between the pointer and a point of the curve
const KEY_TIME = 600; // milliseconds in which a key moves the slider
const SCRIPT_TIME = 10_000; // milliseconds to wait for the script before the last picture of the page is shown again
const BUSY_TIME = 250; // milliseconds after which a training is mentioned
const MOST_KNOWN = 500;
const SHAPES = {
  circle: "M-4.1,0a4.1,4.1 0 1,0 8.2,0a4.1,4.1 0 1,0 -8.2,0",
  up: "M0,-5.6L6,4.6H-6Z",
  down: "M0,5.6L6,-4.6H-6Z",
};
const make = (name, className = "") => Object.assign(document.createElement(name), { className });
const makeSvg = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
const middle = (element) => {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
};

// ---- where pictures come from ----

class Pictures {
  constructor() {
    this.known = new Map();
  }

  keep(url, picture) {
    if (!picture.complete) return;
    if (this.known.size >= MOST_KNOWN) this.known.delete(this.known.keys().next().value);
    this.known.set(url, picture);
  }

  // Call `draw` with the picture at `url`, at first perhaps without intervals, and `wait` with its place in the queue.
  // Only the last request counts. If it fails, the page draws the picture when its script has run.
  async ask(url, draw, wait) {
    if (url === this.asked) return;
    this.stop();
    this.asked = url;
    if (this.known.has(url)) return draw(this.known.get(url));
    const { signal } = (this.request = new AbortController());
    const busy = setTimeout(() => wait(0), BUSY_TIME);
    try {
      let picture = { complete: false };
      while (!picture.complete) {
        const answer = await fetch(picture.schema ? `${url}&wait=complete` : url, { signal });
        if (!answer.ok) return;
        const found = await answer.json();
        if (signal.aborted) return;
        if (found.status === "queued") {
          wait(found.position);
          continue;
        }
        picture = found;
        draw(picture);
        clearTimeout(busy);
      }
      this.keep(url, picture);
    } catch (error) {
      if (error.name !== "AbortError") console.warn("The picture did not come:", error);
    } finally {
      clearTimeout(busy);
    }
  }

  stop() {
    this.request?.abort();
    this.asked = null;
  }
}

// ---- what is drawn ----

class Picture {
  constructor(root) {
    this.box = root.querySelector(".picture");
    this.ghost = root.querySelector(".ghost");
    this.status = root.querySelector(".status");
    this.verdict = root.querySelector(".verdict");
    this.pictures = new Pictures();
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
    this.pictures.stop();
    this.looking = false;
  }

  take(data, send) {
    this.data = data;
    this.send = send;
    this.pictures.keep(this.address({}), data.here);
    if (this.layout !== data.layout) this.build();
    this.look(0);
  }

  build() {
    const { names, meaning, groups, many, alt, legend } = this.data;
    this.layout = this.data.layout;
    this.box.classList.toggle("many", many);
    this.values = names.map((name, i) => {
      const cell = make("div"), title = make("dt"), value = make("dd", "value"), before = make("dd", "before");
      title.textContent = name;
      cell.append(title, value, before);
      if (i === 0) cell.append(Object.assign(make("dd", "meaning"), { textContent: meaning }));
      return { cell, value, before };
    });
    this.box.querySelector(".figures").replaceChildren(...this.values.map(({ cell }) => cell));
    this.groups = Array.from({ length: groups }, () => this.group(alt));
    this.box.querySelector(".groups").replaceChildren(...this.groups.map(({ element }) => element));
    this.box.querySelector(".legend").textContent = legend;
    this.shown = null;
  }

  group(alt) {
    const element = make("div", "group"), label = make("p", "label"), svg = makeSvg("svg");
    svg.setAttribute("viewBox", `0 0 ${COLUMNS * PITCH} ${ROWS * PITCH}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", alt);
    const dots = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
      const dot = makeSvg("path"), title = makeSvg("title");
      const x = (Math.floor(i / ROWS) + 0.5) * PITCH, y = ((i % ROWS) + 0.5) * PITCH;
      dot.setAttribute("transform", `translate(${x},${y})`);
      dot.append(title);
      svg.append(dot);
      return { dot, title, kind: -1 };
    });
    element.append(label, svg);
    return { element, label, dots };
  }

  show(picture) {
    this.status.textContent = "";
    if (picture === this.shown) return;
    this.shown = picture;
    this.box.dataset.setting = picture.text.setting;
    const { figures, before, groups, verdict } = picture.text;
    figures.forEach((text, i) => {
      this.values[i].value.textContent = text;
      this.values[i].before.textContent = before[i];
    });
    picture.groups.forEach(({ of_100: { now, raised, lowered } }, i) => {
      const { label, dots } = this.groups[i];
      label.textContent = groups[i];
      dots.forEach((each, n) => this.paint(each, n < now - raised ? 0 : n < now ? 1 : n < now + lowered ? 2 : 3));
    });
    this.box.classList.toggle("partial", !picture.complete);
    const said = this.data.brief ? verdict.match(/^.*?[.](?= |$)/)?.[0] ?? verdict : verdict;
    const lead = said.indexOf(":") + 1, [strong, rest] = this.verdict.children;
    strong.textContent = said.slice(0, lead);
    rest.textContent = said.slice(lead);
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

  // Show the picture of the page.
  rest() {
    this.pictures.stop();
    this.ghost.hidden = true;
    this.show(this.data.here);
  }

  // ---- pictures of other settings ----

  address(changes) {
    return `${this.data.route}?${new URLSearchParams({ ...this.data.query, ...changes })}`;
  }

  follow(changes, mark = null) {
    const draw = (picture) => {
      this.show(picture);
      this.point(picture, changes, mark);
    };
    if (this.data.find) return draw(this.data.find({ ...this.data.query, ...changes })); // a page without a server
    const wait = (before) => (this.status.textContent = before ? `${this.data.before} ${before}` : this.data.training);
    this.pictures.ask(this.address(changes), draw, wait);
  }

  // Where the model is on the trade-off: at a mark of the chart, or between the marks that are there.
  point(picture, changes, mark) {
    const place = mark ? middle(mark) : this.place(picture.point);
    this.ghost.hidden = !place;
    if (!place) return;
    this.ghost.style.left = `${place.x}px`;
    this.ghost.style.top = `${place.y}px`;
    const { symbols, query } = this.data;
    const moved = Object.keys(symbols).filter((name) => name in changes && changes[name] !== query[name]);
    const named = moved.length ? moved : Object.keys(symbols).slice(0, 1);
    this.ghost.dataset.setting = named.map((name) => `${symbols[name]} ${changes[name] ?? query[name]}`).join(", ");
  }

  place(point) {
    const { axes, points, here, deployed } = this.data;
    const marks = { line: this.marks("line"), frontier: this.marks("frontier") };
    const marked = [
      ...points.map(({ kind, mark, at }) => [marks[kind][mark], at]),
      [this.marks("current")[0], here.point],
      [this.marks("deployed")[0], deployed],
    ].filter(([mark]) => mark);
    const along = (axis, side) => {
      const values = marked.map(([, at]) => at[axis]);
      const low = values.indexOf(Math.min(...values)), high = values.indexOf(Math.max(...values));
      if (low < 0 || values[high] - values[low] < 1e-9) return null;
      const [from, to] = [low, high].map((i) => middle(marked[i][0])[side]);
      return from + ((point[axis] - values[low]) / (values[high] - values[low])) * (to - from);
    };
    const x = along(axes[0], "x"), y = along(axes[1], "y");
    return x === null || y === null ? null : { x, y };
  }

  // ---- along the sliders ----

  slider(event) {
    return Object.values(this.data.sliders).some((key) => event.target.closest?.(`.st-key-${key}`));
  }

  pressed(event) {
    if (!this.slider(event)) return;
    this.isPressed = true;
    this.look(0);
  }

  released() {
    if (!this.isPressed) return;
    this.isPressed = false;
    this.look(0);
  }

  typed(event) {
    if (this.slider(event)) this.look(KEY_TIME);
  }

  settings() {
    const entries = Object.entries(this.data.sliders).map(([name, key]) => {
      const thumb = document.querySelector(`.st-key-${key} input[type="range"]`);
      return [name, thumb?.getAttribute("aria-valuetext").replace(",", ".") ?? this.data.query[name]];
    });
    return Object.fromEntries(entries);
  }

  // Follow the sliders for `least` milliseconds, while one is pressed, and until the page shows what they say.
  look(least) {
    this.least = performance.now() + least;
    this.until = performance.now() + SCRIPT_TIME;
    if (this.looking) return;
    this.looking = true;
    const step = () => {
      if (!this.looking) return;
      const settings = this.settings(), now = performance.now();
      const isShown = Object.entries(settings).every(([name, value]) => value === this.data.query[name]);
      if (!this.isPressed && now >= this.least && (isShown || now > this.until)) {
        this.looking = false;
        this.rest();
        return;
      }
      if (!isShown || this.isPressed) this.follow(settings);
      requestAnimationFrame(step);
    };
    step();
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
    const marks = { line: this.marks("line"), frontier: this.marks("frontier") };
    let best = null, least = NEAR;
    for (const point of this.data.points) {
      const mark = marks[point.kind][point.mark];
      if (!mark) continue;
      const { x, y } = middle(mark), distance = Math.hypot(x - event.clientX, y - event.clientY);
      if (distance < least) [least, best] = [distance, { point, mark }];
    }
    return best;
  }

  moved(event) {
    if (this.looking) return;
    const found = this.nearest(event);
    if (found) this.follow(found.point.query, found.mark);
    else this.rest();
  }

  left(event) {
    if (event.relatedTarget === null && !this.looking) this.rest(); // out of the window
  }

  clicked(event) {
    const found = this.nearest(event);
    if (!found) return;
    event.stopPropagation();
    this.send("go", `${found.point.kind} ${found.point.place}`);
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  parentElement.picture ??= new Picture(parentElement);
  parentElement.picture.take(data, setTriggerValue);
  return () => parentElement.picture.stop();
}
