
// ---- a page without a server: it has every model of a grid, and shows them by the component above ----

const $ = (selector) => document.querySelector(selector);
const build = (name, attributes = {}, ...inside) => {
  const element = name in { svg: 0, path: 0, g: 0, text: 0, line: 0 } ? makeSvg(name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};
const SLIDERS = ["lambda_fair", "lambda_ratio", "lambda_concepts", "k"];
const MARKS = {
  frontier: "M-2.5,0a2.5,2.5 0 1,0 5,0a2.5,2.5 0 1,0 -5,0",
  line: "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0",
  tried: "M-5,-5H5V5H-5Z",
  current: "M-9,0a9,9 0 1,0 18,0a9,9 0 1,0 -18,0",
  deployed: "M0,-8L8,0L0,8L-8,0Z",
};
const WIDE = 460, HIGH = 300, LEFT = 52, BELOW = 44;

// ---- the models ----

class Models {
  constructor(pack) {
    this.pack = pack;
    this.made = new Map();
    this.axes = ["fairness", "update", "lambda_ratio", "lambda_concepts", "lambda_fair"];
  }

  number(settings) {
    return this.axes.reduce((n, name) => n * this.pack.grid[name].length + this.pack.grid[name].indexOf(settings[name]), 0);
  }

  setting(number) {
    const found = {};
    for (const name of [...this.axes].reverse()) {
      const values = this.pack.grid[name];
      found[name] = values[number % values.length];
      number = Math.floor(number / values.length);
    }
    return found;
  }

  get count() {
    return this.axes.reduce((n, name) => n * this.pack.grid[name].length, 1);
  }

  part(name, settings) {
    const { values, index } = this.pack.parts[name];
    return values[index[this.number(settings)]];
  }

  // Where a model lies on the trade-off.
  point(settings) {
    const { figures } = this.part("numbers", settings);
    const [fairness, accuracy, change_rate] = this.pack.criteria[settings.fairness].axes.map((i) => figures[i][0]);
    return { fairness, accuracy, change_rate };
  }

  // The document that GET /model answers with.
  picture(settings, language) {
    const key = `${this.number(settings)} ${settings.k} ${language}`;
    if (!this.made.has(key)) this.made.set(key, this.make(settings, language));
    return this.made.get(key);
  }

  make(settings, language) {
    const { pack } = this, of = pack.criteria[settings.fairness], { figures, groups, changes } = this.part("numbers", settings);
    const [shown, intervals, labels, verdict] = this.part(language, settings);
    const sliders = SLIDERS.map((name) => `${pack.words[language].symbols[name]} ${settings[name]}`).join(", ");
    return {
      schema: pack.schema, status: "ready", complete: true,
      settings: { ...pack.query, ...settings },
      figures: of.names.map((name, i) => {
        const [g, g_low, g_high, difference_low, difference_high] = figures[i], f = of.f[i];
        const difference = f === null || g === null ? null : g - f;
        return { name, f, g, difference, g_low, g_high, difference_low, difference_high };
      }),
      groups: of.groups.map(({ code, name, count, before, of_100 }, i) => {
        const [now, raised, lowered, ...hundred] = groups[i];
        const people = { before: of_100, now: hundred[0], raised: hundred[1], lowered: hundred[2] };
        return { code, name, count, before, now, raised, lowered, of_100: people };
      }),
      point: this.point(settings),
      changes: { count: changes[0], of: of.of, right: changes[1] },
      text: { setting: `${sliders}${pack.behind[settings.update]}`, figures: shown, intervals, groups: labels, verdict },
    };
  }

  // Logits of f and g for one person, by their line: above 0 they say yes.
  decide(settings, cells) {
    const { encoded, intercept, line, acts_on, mirror, across } = this.pack.person, model = this.part("model", settings);
    const raw = encoded.map(([column, level]) => (level === null ? Number(cells[column]) : Number(cells[column] === level)));
    const x = encoded.map(([, , mean, scale], i) => (raw[i] - mean) / scale);
    const f = encoded.reduce((sum, each, i) => sum + each[4] * raw[i], intercept) - line;
    const along = ([start, weights]) => {
      let sum = start;
      for (let i = 0; i < weights.length; i += 2) sum += weights[i + 1] * x[weights[i]];
      return sum;
    };
    const flip = (flipped) => (flipped ? -mirror * f + (f > 0 ? -across : across) : f);
    if (model.rules) {
      const holds = ([accepted, asks]) => f > 0 === accepted && asks.every(([i, cut, above]) => x[i] > cut === above);
      return { f, g: flip(model.rules.some(holds)) };
    }
    if (acts_on !== "everybody" && f > 0 !== (acts_on === "positive")) return { f, g: f };
    const balance = along(model.r) * f + (model.s ? along(model.s) : 0);
    if (model.step === undefined) return { f, g: balance };
    return { f, g: flip(balance + (f > 0 ? model.step : 0) > 0 !== f > 0) };
  }
}

// ---- the page ----

class Page {
  constructor(pack) {
    this.models = new Models(pack);
    this.pack = pack;
    this.asked = new URLSearchParams(location.search);
    const wanted = this.asked.get("lang") ?? navigator.language.slice(0, 2);
    this.language = wanted in pack.words ? wanted : Object.keys(pack.words)[0];
    this.settings = this.start = Object.fromEntries(Object.keys(pack.grid).map((name) => [name, pack.query[name]]));
    for (const [name, values] of Object.entries(pack.grid)) {
      if (values.includes(this.asked.get(name))) this.settings = { ...this.settings, [name]: this.asked.get(name) };
    }
    this.tried = [];
    this.root = $("#picture").attachShadow({ mode: "open" });
    this.root.append($("#shape").content.cloneNode(true));
    const only = (this.asked.get("only") ?? "").split(",").filter((name) => document.getElementById(name));
    only.forEach((name) => document.getElementById(name).classList.add("shown"));
    document.body.classList.toggle("only", only.length > 0);
    $("#language").addEventListener("click", () => {
      const all = Object.keys(pack.words);
      this.language = all[(all.indexOf(this.language) + 1) % all.length];
      this.write();
    });
    const set = Object.keys(pack.grid).some((name) => this.asked.has(name));
    this.lesson = only.length || set ? null : new Lesson(this);
    $("#skip").addEventListener("click", () => {
      this.lesson = this.lesson ? null : new Lesson(this);
      this.go(this.lesson ? this.settings : this.start);
      this.write();
    });
    this.write();
  }

  get words() {
    return this.pack.words[this.language];
  }

  say(name, values = {}) {
    return this.words[name].replace(/\{(\w+)\}/g, (_, field) => values[field]);
  }

  written(value, digits) {
    const text = value.toFixed(digits);
    return this.language === "fr" ? text.replace(".", ",") : text;
  }

  percent(share, digits = 1) {
    return `${this.written(100 * share, digits)}${this.language === "fr" ? "\u202f" : ""}%`;
  }

  // All texts anew, as after a change of language.
  write() {
    document.documentElement.lang = this.language;
    document.title = this.words.title;
    for (const element of document.querySelectorAll("[data-say]")) element.textContent = this.say(element.dataset.say);
    for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", this.say(element.dataset.label));
    document.body.classList.toggle("lesson", this.lesson !== null);
    $("#skip").textContent = this.say(this.lesson ? "skip" : "again");
    $("#story").textContent = this.words.story;
    $("#about").replaceChildren(build("p", { class: "caption" }, this.say("about", { made: this.pack.made, models: this.models.count })));
    if (this.pack.app) $("#about").append(build("p", {}, build("a", { href: this.pack.app }, this.say("app"))));
    this.controls();
    this.person();
    this.draw();
    if (this.lesson) this.lesson.write();
    else $("#guide").replaceChildren();
  }

  go(settings) {
    if (this.models.number(settings) !== this.models.number(this.settings)) {
      this.tried = [...this.tried.filter((each) => each.fairness === settings.fairness), this.settings].slice(-60);
    }
    this.settings = settings;
    for (const name of SLIDERS) this.place(name);
    for (const name of ["fairness", "update"]) $(`#set_${name}`).value = settings[name];
    this.draw();
    const link = new URLSearchParams({ ...Object.fromEntries(this.asked), ...settings });
    if (!this.lesson) history.replaceState(null, "", `?${link}`);
  }

  draw() {
    const doctored = this.lesson?.picture();
    this.show(doctored ?? this.models.picture(this.settings, this.language), doctored ? "asked" : "");
    this.lesson?.moved();
    if (this.lesson) return;
    this.tradeoff();
    this.component.look(0); // the marks of the chart are new
    this.changes();
    this.checks();
    this.concepts();
    this.tree();
    this.decide();
  }

  // ---- the component ----

  get component() {
    return this.root.picture;
  }

  show(here, layout) {
    const { words, settings, pack } = this, names = layout ? [] : words.names[settings.fairness];
    const line = pack.grid.lambda_fair.map((value) => ({ ...settings, lambda_fair: value }));
    const frontier = this.frontier().map((each) => ({ ...each, k: settings.k }));
    this.points = [["line", line], ["frontier", frontier]].flatMap(([kind, all]) =>
      all.map((query, mark) => ({ kind, mark, place: mark, at: this.models.point(query), query })));
    const data = {
      here, names, states: words.states, alt: words.alt, good: pack.good,
      many: pack.many, groups: here.groups.length, layout: `${layout}${this.language}${settings.fairness}${here.groups.length}`,
      query: settings, sliders: Object.fromEntries(SLIDERS.map((name) => [name, `set_${name}`])), symbols: words.symbols,
      points: this.points, axes: ["fairness", "accuracy"], deployed: this.deployed(), fixed: this.lesson !== null,
      drawn: { line: line.length, frontier: frontier.length, current: 1, deployed: 1 },
      marks: Object.fromEntries(Object.keys(MARKS).map((kind) => [kind, this.say(`is_${kind}`)])),
      find: (query) => this.models.picture(query, this.language),
    };
    const send = (_, message) => {
      const [kind, place] = message.split(" ");
      this.go({ ...this.points.find((each) => each.kind === kind && each.place === Number(place)).query });
    };
    mount({ parentElement: this.root, data, setTriggerValue: send });
  }

  deployed() {
    const { f, axes } = this.pack.criteria[this.settings.fairness];
    return { fairness: f[axes[0]], accuracy: f[axes[1]], change_rate: 0 };
  }

  frontier() {
    const { fairness } = this.settings, { pack, models } = this;
    const first = models.count / pack.grid.fairness.length * pack.grid.fairness.indexOf(fairness);
    return pack.criteria[fairness].frontier.map((n) => models.setting(first + n));
  }

  // ---- the controls ----

  controls() {
    const { words, pack } = this, rest = build("details", { class: "later" }, build("summary", {}, this.say("more_controls")));
    rest.open = $("#sliders details")?.open ?? innerWidth > 640;
    const sliders = SLIDERS.map((name) => {
      const id = `set_${name}`, values = pack.grid[name];
      const input = build("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 });
      input.addEventListener("input", () => this.go({ ...this.settings, [name]: values[input.value] }));
      const label = build("label", { for: id }, words.controls[name], build("output", { for: id }));
      return build("div", { class: `control st-key-${id}${name === "lambda_fair" ? " first" : ""}` }, label, input);
    });
    const selects = ["fairness", "update"].map((name) => {
      const options = pack.grid[name].map((value) => build("option", { value }, words.options[name][value]));
      const select = build("select", { id: `set_${name}` }, ...options);
      select.addEventListener("change", () => this.go({ ...this.settings, [name]: select.value }));
      return build("div", { class: "control" }, build("label", { for: select.id }, words.controls[name]), select);
    });
    rest.append(...sliders.slice(1), ...selects);
    $("#sliders").replaceChildren(sliders[0], rest);
    for (const name of SLIDERS) this.place(name);
    for (const name of ["fairness", "update"]) $(`#set_${name}`).value = this.settings[name];
  }

  place(name) {
    const input = $(`#set_${name}`), value = this.settings[name];
    input.value = this.pack.grid[name].indexOf(value);
    input.setAttribute("aria-valuetext", value);
    input.previousElementSibling.querySelector("output").textContent = value;
  }

  // ---- what is drawn around the component ----

  tradeoff() {
    const { models, settings } = this, tried = this.tried.filter((each) => each.fairness === settings.fairness);
    const all = {
      frontier: this.points.filter(({ kind }) => kind === "frontier").map(({ at }) => at),
      line: this.points.filter(({ kind }) => kind === "line").map(({ at }) => at),
      tried: tried.map((each) => models.point(each)), current: [models.point(settings)], deployed: [this.deployed()],
    };
    const [x, y] = ["fairness", "accuracy"].map((axis) => this.span(axis));
    const at = (point) => [
      LEFT + ((point.fairness - x.low) / (x.high - x.low)) * (WIDE - LEFT - 12),
      8 + (1 - (point.accuracy - y.low) / (y.high - y.low)) * (HIGH - BELOW - 8),
    ];
    const chart = build("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": this.say("tradeoff") });
    for (const tick of x.ticks) {
      const place = at({ fairness: tick, accuracy: y.low })[0];
      chart.append(build("line", { class: "axis", x1: place, x2: place, y1: 8, y2: HIGH - BELOW }));
      chart.append(build("text", { x: place, y: HIGH - BELOW + 16, "text-anchor": "middle" }, this.written(tick, 2)));
    }
    for (const tick of y.ticks) {
      const place = at({ fairness: x.low, accuracy: tick })[1];
      chart.append(build("line", { class: "axis", x1: LEFT, x2: WIDE - 12, y1: place, y2: place }));
      chart.append(build("text", { x: LEFT - 6, y: place + 4, "text-anchor": "end" }, this.percent(tick, 0)));
    }
    chart.append(build("text", { x: WIDE - 12, y: HIGH - 6, "text-anchor": "end" }, this.words.axis[settings.fairness]));
    chart.append(build("text", { x: LEFT, y: HIGH - 6 }, `↑ ${this.words.names[settings.fairness][1]}`));
    for (const [kind, points] of Object.entries(all)) {
      const group = build("g", { class: kind }), sorted = kind === "frontier" ? [...points].sort((a, b) => a.fairness - b.fairness) : points;
      if (kind === "frontier" || kind === "line") group.append(build("path", { class: "way", d: `M${sorted.map(at).join("L")}` }));
      for (const point of points) {
        const told = [this.say(`is_${kind}`), `${this.words.axis[settings.fairness]} ${this.written(point.fairness, 3)}`,
          `${this.words.names[settings.fairness][1]} ${this.percent(point.accuracy)}`].join(", ");
        group.append(build("path", { d: MARKS[kind], role: "img", "aria-label": told, transform: `translate(${at(point)})` }));
      }
      chart.append(group);
    }
    const legend = Object.keys(all).map((kind) => {
      const sign = build("svg", { class: "chart", viewBox: "-10 -10 20 20", "aria-hidden": "true" }, build("g", { class: kind }, build("path", { d: MARKS[kind], role: "none" })));
      return build("span", {}, sign, this.say(`is_${kind}`));
    });
    $("#tradeoff .body").replaceChildren(chart, build("div", { class: "legend" }, ...legend));
  }

  // The same for every model of a criterion, so that the frame stands still while points move.
  span(axis) {
    const key = `span ${axis} ${this.settings.fairness}`;
    if (!this.models.made.has(key)) {
      const { fairness } = this.settings, number = this.models.pack.grid.fairness.indexOf(fairness);
      const size = this.models.count / this.models.pack.grid.fairness.length;
      const values = Array.from({ length: size }, (_, n) => this.models.point(this.models.setting(number * size + n))[axis]);
      const low = Math.min(...values), high = Math.max(...values), room = (high - low) * 0.06 || 0.05;
      const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((each) => (high - low) / each <= 6) ?? 1, ticks = [];
      for (let tick = Math.ceil(low / step); tick * step <= high + 1e-9; tick++) ticks.push(tick * step);
      this.models.made.set(key, { low: low - room, high: high + room, ticks });
    }
    return this.models.made.get(key);
  }

  bars(rows) {
    const most = Math.max(...rows.map(({ size }) => size), 1e-9);
    return build("table", {}, build("tbody", {}, ...rows.map(({ name, size, kind, told }) => {
      const bar = build("span", { class: `bar ${kind}` });
      bar.style.width = `${(100 * size) / most}%`;
      return build("tr", {}, build("th", { scope: "row" }, name), build("td", {}, bar), build("td", { class: "count" }, told));
    })));
  }

  changes() {
    const { people } = this.models.part("numbers", this.settings), { called } = this.words, { groups } = this.models.picture(this.settings, this.language);
    const rows = people.flatMap(([raised, lowered], i) => [["better", raised], ["worse", lowered]].map(([way, up]) => {
      const better = (way === "better") === this.pack.good, count = better ? raised : lowered;
      return { way, count, size: count / groups[i].count, name: `${called[i]}: ${this.say(way)}`, of: groups[i].count };
    }));
    const told = rows.map(({ way, count, size, name, of }) => ({ name, size, kind: way, told: this.say("of", { count, of }) }));
    $("#changes .body").replaceChildren(this.bars(told));
  }

  checks() {
    const answers = this.models.part("checks", this.settings), { checks, marks } = this.words;
    const lines = answers.map(([name, mark, part, whole]) => {
      const share = whole ? ` ${this.say("of", { count: part, of: whole })} (${this.percent(part / whole)})` : "";
      return build("li", {}, build("strong", { class: mark }, marks[mark].join(" ")), ` · ${checks[name]}${share}`);
    });
    const none = build("p", {}, this.say("nobody"));
    $("#checks .body").replaceChildren(answers.length ? build("ul", { class: "checks" }, ...lines) : none, build("p", { class: "caption" }, this.say("refits")));
  }

  concepts() {
    const { settings, pack } = this, model = this.models.part("model", settings), cards = [];
    if (model.rules) model.words.forEach((asks, i) => {
      cards.push(build("div", {}, build("h3", {}, `${this.say("rule")} ${i + 1}`), build("ul", {}, ...asks.map((ask) => build("li", {}, ask)))));
    });
    else {
      const groups = pack.groups[`${settings.fairness} ${settings.update}`][pack.grid.k.indexOf(settings.k)];
      for (const part of model.step === undefined ? ["r", "s"] : ["s"]) {
        const weights = model[part]?.[1] ?? [], by = new Map();
        for (let i = 0; i < weights.length; i += 2) by.set(weights[i], weights[i + 1]);
        groups.forEach((group, i) => {
          const own = group.filter((feature) => by.has(feature)).sort((a, b) => Math.abs(by.get(b)) - Math.abs(by.get(a)));
          if (!own.length) return;
          const rows = own.map((feature) => {
            const value = by.get(feature), told = `${value > 0 ? "+" : "−"}${this.written(Math.abs(value), 3)}`;
            return { name: pack.features[feature], size: Math.abs(value), kind: value > 0 ? "more" : "less", told };
          });
          const shift = part === "s" && model.step === undefined ? `, ${this.say("shift")}` : "";
          cards.push(build("div", {}, build("h3", {}, `${this.say("concept")} ${i + 1}${shift}`), this.bars(rows)));
        });
      }
    }
    $("#concepts .caption").textContent = this.say(model.rules ? "rules_say" : model.step === undefined ? (model.s ? "affine_says" : "ratio_says") : "decisions_say");
    $("#concepts .body").replaceChildren(cards.length ? build("div", { class: "cards" }, ...cards) : this.say("no_concepts"));
  }

  tree() {
    const nodes = this.models.part("tree", this.settings);
    const below = (parent) => {
      const items = nodes.filter((node) => node[1] === parent).map(([node, , rule, leaf, count, changed, predicts]) => {
        const words = build("span", predicts ? { class: "says" } : {}, `${rule === "everyone" ? this.say("everyone") : rule}: `);
        const item = build("li", {}, words, this.say("changed_of", { changed, count }));
        if (!leaf) item.append(below(node));
        return item;
      });
      return build("ul", { class: "nodes" }, ...items);
    };
    $("#tree .caption").textContent = nodes.length ? this.say("tree_says") : "";
    $("#tree .body").replaceChildren(nodes.length ? below(-1) : this.say("nobody"));
  }

  // ---- one person ----

  person() {
    const { person } = this.pack;
    $("#person").hidden = !person;
    if (!person) return;
    this.cells ??= [...(person.people[0] ?? person.middle)];
    $("#person .caption").textContent = this.say(person.people.length ? "person_says" : "middle_says");
    const fields = person.columns.map(({ label, levels, low, high, step }, i) => {
      const input = levels
        ? build("select", {}, ...levels.map((level, place) => build("option", { value: place }, String(level ?? "–"))))
        : build("input", { type: "number", min: low, max: high, step: "any" });
      input.value = levels ? levels.indexOf(this.cells[i]) : this.cells[i];
      input.addEventListener("input", () => {
        const value = levels ? levels[input.value] : Math.min(high, Math.max(low, Number(input.value)));
        if (levels || input.value !== "") this.cells[i] = value;
        this.decide();
      });
      return build("label", {}, label, input);
    });
    const next = build("button", { type: "button" }, this.say("next_person"));
    next.hidden = person.people.length < 2;
    next.addEventListener("click", () => {
      this.number = ((this.number ?? 0) + 1) % person.people.length;
      this.cells = [...person.people[this.number]];
      this.person();
      this.decide();
      $("#person button").focus();
    });
    $("#person .body").replaceChildren(build("div", { class: "fields" }, ...fields), build("p", {}, next));
  }

  decide() {
    if (!this.pack.person) return;
    const logits = this.models.decide(this.settings, this.cells), { line } = this.pack.person;
    const values = {};
    for (const [name, logit] of Object.entries(logits)) {
      values[name] = this.percent(1 / (1 + Math.exp(-(logit + line))));
      values[`${name}_says`] = logit > 0 ? this.words.yes : this.words.no;
    }
    $("#person .told").textContent = this.say(logits.f > 0 === logits.g > 0 ? "person_stays" : "person_changes", values);
  }
}

// ---- the lesson: three times a guess, a slider, a surprise ----

class Lesson {
  constructor(page) {
    this.page = page;
    this.step = 0;
    this.stage = "guess";
    const { pack, models, start } = page, { lambda_fair } = pack.grid;
    const most = pack.criteria[start.fairness].groups.map(({ before }) => before);
    this.high = most.indexOf(Math.max(...most));
    this.low = most.indexOf(Math.min(...most));
    const later = lambda_fair.slice(Math.max(1, lambda_fair.indexOf(start.lambda_fair)));
    const at = (value) => ({ ...start, lambda_fair: value });
    const moving = later.find((value) => models.part("numbers", at(value)).changes[0] > 0) ?? later.at(-1);
    this.goals = [lambda_fair[0], moving, lambda_fair.at(-1)];
    page.settings = at(lambda_fair[0]);
    this.start();
  }

  start() {
    const right = 100 * this.page.deployed().accuracy;
    this.guess = Math.round([this.of(this.high), 0, right][this.step]);
  }

  of(group) {
    return this.page.pack.criteria[this.page.start.fairness].groups[group].of_100;
  }

  // What the question is about, and what the model says.
  values() {
    const { page, step } = this, { models, start, pack, words } = page;
    const there = models.picture({ ...start, lambda_fair: this.goals[step] }, page.language), { changes } = there;
    const figure = there.figures[pack.criteria[start.fairness].axes[0]], { people } = models.part("numbers", there.settings);
    const worse = people.reduce((sum, [raised, lowered]) => sum + (pack.good ? lowered : raised), 0);
    return {
      one: words.called[this.high], other: words.called[this.low], first: this.of(this.high), second: this.of(this.low),
      yes: words.yes, goal: this.goals[step], guess: this.guess, control: words.controls.lambda_fair,
      changed: changes.count, of: changes.of, worse, share: page.written((100 * changes.count) / changes.of, 1),
      before: page.written(100 * page.deployed().accuracy, 0), now: page.written(100 * there.point.accuracy, 1),
      figure: words.names[start.fairness][0], f: page.written(figure.f, 2), g: page.written(figure.g, 2),
    };
  }

  // In the first step the second group's dots are those of the guess, until it is made.
  picture() {
    if (this.step || this.stage !== "guess") return null;
    const { page, guess } = this, real = page.models.picture(page.settings, page.language);
    const groups = [this.high, this.low].map((i) => real.groups[i]);
    const [shown, asked] = [{ now: this.of(this.high) }, { now: guess }].map((people) => ({ ...people, raised: 0, lowered: 0 }));
    const { called } = page.words;
    const label = (i, now) => `${called[i][0].toUpperCase()}${called[i].slice(1)}\n${now}`;
    const text = { setting: "", figures: [], intervals: [], groups: [label(this.high, this.of(this.high)), label(this.low, "?")], verdict: "" };
    return { ...real, groups: groups.map((group, i) => ({ ...group, of_100: [shown, asked][i] })), text };
  }

  write() {
    const { page, step, stage } = this, values = this.values();
    document.body.classList.toggle("asking", stage === "guess");
    const row = build("div", { class: "row" });
    const words = [build("p", {}, stage === "guess" ? page.say(`ask_${step + 1}`, values) : "")];
    const button = (name, click) => {
      const made = build("button", { type: "button", class: "main" }, page.say(name));
      made.addEventListener("click", click);
      row.append(made);
    };
    if (stage === "guess") {
      const slider = build("input", { type: "range", min: 0, max: 100, id: "guess", "aria-label": page.say("guess") });
      const shown = build("output", { for: "guess" }, String(this.guess));
      slider.value = this.guess;
      slider.addEventListener("input", () => {
        this.guess = Number(slider.value);
        shown.textContent = slider.value;
        page.draw();
      });
      row.append(slider, shown);
      button("guess", () => this.turn(step ? "move" : "told"));
    } else if (stage === "move") words[0].textContent = page.say("move", values);
    else {
      words[0].append(build("strong", {}, page.say(`told_${step + 1}`, values)));
      words.push(build("p", {}, page.say("you_said", values)));
      button(step < 2 ? "next" : "done", () => {
        if (step === 2) return $("#skip").click();
        this.step += 1;
        this.start();
        this.turn("guess");
      });
    }
    $("#guide").replaceChildren(build("p", { class: "caption" }, `${step + 1} / 3`), ...words, row);
  }

  turn(stage) {
    this.stage = stage;
    this.page.draw();
    this.write();
    const next = stage === "move" ? $("#set_lambda_fair") : $(stage === "guess" ? "#guess" : "#guide button");
    next?.focus();
  }

  // The surprise comes when the slider is where it was asked to be.
  moved() {
    if (this.stage === "move" && this.page.settings.lambda_fair === this.goals[this.step]) {
      this.stage = "told";
      this.write();
    }
  }
}

async function open() {
  const bytes = Uint8Array.from(atob($("#pack").textContent), (letter) => letter.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  window.commod = new Page(JSON.parse(text));
}

open().catch((error) => {
  document.body.prepend(build("p", { role: "alert" }, "This browser is too old for this page: please use one from 2023 or later."));
  console.error(error);
});
