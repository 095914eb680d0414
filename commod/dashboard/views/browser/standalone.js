
// ---- a page without a server: it has every model of a grid, and shows them by the component above ----

const $ = (selector) => document.querySelector(selector);
const build = (name, attributes = {}, ...inside) => {
  const element = ["svg", "path", "g", "text", "line"].includes(name) ? makeSvg(name) : make(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};
// What `standalone.py` has put into columns: the document of row n.
const row = (columns, n) => {
  const { object, list, all, few, index } = columns;
  if (object) return Object.fromEntries(Object.entries(object).map(([name, each]) => [name, row(each, n)]));
  return list ? list.map((each) => row(each, n)) : all ? all[n] : few[index ? index[n] : 0];
};
// A value of a slider as it is written in a language.
const written = (value, language) => (language === "fr" ? value.replace(".", ",") : value);
const capital = (words) => words[0].toUpperCase() + words.slice(1);
const pairs = (flat) => new Map(Array.from({ length: flat.length / 2 }, (_, i) => flat.slice(2 * i, 2 * i + 2)));
const SLIDERS = ["lambda_fair", "lambda_ratio", "lambda_concepts", "k"], CHOICES = ["fairness", "update"];
const AXES = ["fairness", "update", "lambda_ratio", "lambda_concepts", "lambda_fair"];
const circle = (r) => `M-${r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 -${2 * r},0`;
const MARKS = { frontier: circle(2.5), line: circle(3.5), tried: "M-5,-5H5V5H-5Z", current: circle(9), deployed: "M0,-8L8,0L0,8L-8,0Z" };
const WIDE = 460, HIGH = 300, LEFT = 52, TOP = 26, BELOW = 44, MOST_TRIED = 60;

class Models {
  constructor(pack) {
    this.pack = pack;
    this.made = new Map();
    this.count = AXES.reduce((n, name) => n * pack.grid[name].length, 1);
  }

  number(settings) {
    return AXES.reduce((n, name) => n * this.pack.grid[name].length + this.pack.grid[name].indexOf(settings[name]), 0);
  }

  setting(number) {
    return Object.fromEntries([...AXES].reverse().map((name) => {
      const values = this.pack.grid[name], place = number % values.length;
      number = (number - place) / values.length;
      return [name, values[place]];
    }));
  }

  part(settings, ...names) {
    return row(names.reduce((columns, name) => columns.object[name], this.pack.models), this.number(settings));
  }

  // Where a model lies on the trade-off.
  point(settings) {
    return this.part(settings, "picture", "point");
  }

  // The document that GET /model answers with.
  picture(settings, language) {
    const key = `${this.number(settings)} ${settings.k} ${language}`, { pack } = this;
    if (!this.made.has(key)) {
      const { symbols, behind } = pack.words[language];
      const sliders = SLIDERS.map((name) => `${symbols[name]} ${written(settings[name], language)}`).join(", ");
      const text = { ...this.part(settings, "text", language), setting: sliders + behind[settings.update] };
      this.made.set(key, { ...this.part(settings, "picture"), settings: { ...pack.query, ...settings }, text });
    }
    return this.made.get(key);
  }

  // A figure of a model by name, or that of its criterion.
  figure(settings, name = this.pack.criteria[settings.fairness].figure) {
    return this.part(settings, "picture", "figures").find((figure) => figure.name === name);
  }

  // How far the logits of f and g lie above the line for one person: above 0 they say yes.
  decide(settings, cells) {
    const { encoded, intercept, line, acts_on, mirror, across } = this.pack.person, model = this.part(settings, "model");
    const raw = encoded.map(([column, level]) => Number(level === null ? cells[column] : cells[column] === level));
    const x = encoded.map(([, , mean, scale], i) => (raw[i] - mean) / scale);
    const f = encoded.reduce((sum, each, i) => sum + each[4] * raw[i], intercept) - line;
    const sum = ([start, weights]) => [...pairs(weights)].reduce((all, [i, weight]) => all + weight * x[i], start);
    const flip = (flipped) => ({ f, g: flipped ? -mirror * f + (f > 0 ? -across : across) : f });
    if (acts_on !== "everybody" && f > 0 !== (acts_on === "positive")) return flip(false);
    const r = sum(model.r), g = r * f + (model.s ? sum(model.s) : 0);
    return model.step === undefined ? { f, g, r } : flip(g + (f > 0 ? model.step : 0) > 0 !== f > 0);
  }
}

class Page {
  constructor(pack) {
    Object.assign(this, { pack, models: new Models(pack), tried: [], formats: {}, asked: new URLSearchParams(location.search) });
    const wanted = this.asked.get("lang") ?? navigator.language.slice(0, 2);
    this.language = wanted in pack.words ? wanted : Object.keys(pack.words)[0];
    this.settings = this.start = Object.fromEntries(Object.keys(pack.grid).map((name) => [name, pack.query[name]]));
    const given = [...this.asked].filter(([name, value]) => pack.grid[name]?.includes(value));
    this.settings = { ...this.start, ...Object.fromEntries(given) };
    this.root = $("#picture").attachShadow({ mode: "open" });
    this.root.append($("#shape").content.cloneNode(true));
    const only = (this.asked.get("only") ?? "").split(",").map((name) => document.getElementById(name)).filter(Boolean);
    only.forEach((section) => section.classList.add("shown"));
    document.body.classList.toggle("only", only.length > 0);
    this.lesson = only.length || given.length ? null : new Lesson(this);
    $("#language").addEventListener("click", () => {
      this.language = Object.keys(pack.words).find((language) => language !== this.language);
      this.asked.set("lang", this.language);
      this.link();
      this.write();
    });
    $("#skip").addEventListener("click", () => {
      const isDone = this.lesson?.step === 2 && this.lesson.stage === "surprise";
      this.lesson = this.lesson ? null : new Lesson(this);
      if (!this.lesson) this.go(isDone ? this.settings : this.start);
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

  number(value, digits = 0) {
    const how = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    this.formats[`${this.language} ${digits}`] ??= new Intl.NumberFormat(this.language, how);
    return value === null ? "–" : this.formats[`${this.language} ${digits}`].format(value).replace("-", "−");
  }

  percent(share, digits = 1) {
    return `${this.number(100 * share, digits)}${this.language === "fr" ? "\u202f" : ""}%`;
  }

  // All texts anew, as after a change of language.
  write() {
    document.documentElement.lang = this.language;
    document.title = this.words.title;
    document.body.classList.toggle("lesson", this.lesson !== null);
    for (const each of document.querySelectorAll("[data-say]")) each.textContent = this.say(each.dataset.say);
    for (const each of document.querySelectorAll("[data-label]")) each.setAttribute("aria-label", this.say(each.dataset.label));
    $("#skip").textContent = this.say(this.lesson ? "skip" : "again");
    const values = { made: this.pack.made, models: this.number(this.models.count) };
    $("#about").replaceChildren(build("p", { class: "caption" }, this.say("about", values)));
    if (this.pack.app) $("#about").append(build("a", { href: this.pack.app }, this.say("app")));
    this.controls();
    this.person(this.number, this.cells);
    this.draw();
    if (this.lesson) this.lesson.write();
    else $("#guide").replaceChildren();
  }

  go(settings) {
    if (this.models.number(settings) !== this.models.number(this.settings)) this.tried = [...this.tried, this.settings].slice(-MOST_TRIED);
    this.settings = settings;
    this.place();
    this.draw();
    this.link();
  }

  // The address of what is shown; not while the hand drags, since browsers allow only so many changes of it.
  link() {
    if (this.lesson || this.root.picture.isPressed) return;
    history.replaceState(null, "", `?${new URLSearchParams({ ...Object.fromEntries(this.asked), ...this.settings })}`);
  }

  draw() {
    // While the hand drags a slider, what is out of sight waits until it lets go.
    const near = ({ top, bottom }) => bottom > 0 && top < innerHeight, pressed = this.root.picture?.isPressed;
    const parts = ["changes", "checks", "concepts", "tree"].filter((name) => !pressed || near($(`#${name}`).getBoundingClientRect()));
    this.show(this.lesson?.picture());
    if (this.lesson) return this.lesson.moved();
    for (const part of ["tradeoff", "intervals", ...parts, "decide"]) this[part]();
  }

  // ---- the component; the lesson may have it show dots alone ----

  show(dots) {
    const { words, settings, pack } = this, here = dots ?? this.models.picture(settings, this.language);
    const names = dots ? [] : words.names[settings.fairness], [fair, accuracy] = [undefined, "accuracy"].map((name) => this.models.figure(settings, name));
    const line = pack.grid.lambda_fair.map((value) => ({ ...settings, lambda_fair: value }));
    const first = (this.models.count / pack.grid.fairness.length) * pack.grid.fairness.indexOf(settings.fairness);
    const frontier = pack.criteria[settings.fairness].frontier.map((n) => ({ ...this.models.setting(first + n), k: settings.k }));
    this.points = Object.entries({ line, frontier }).flatMap(([kind, all]) =>
      all.map((query, mark) => ({ kind, mark, place: mark, at: this.models.point(query), query })));
    this.deployed = { fairness: fair.f, accuracy: accuracy.f, change_rate: 0 };
    const data = {
      here, names, meaning: words.meaning[settings.fairness], legend: words.legend, states: words.states, alt: words.alt, good: pack.good, many: pack.many, groups: here.groups.length,
      layout: [...names, here.groups.length, this.language].join("|"), symbols: words.symbols, query: settings,
      sliders: Object.fromEntries(SLIDERS.map((name) => [name, `set_${name}`])), fixed: this.lesson !== null,
      points: this.points, axes: ["fairness", "accuracy"], deployed: this.deployed,
      drawn: { line: line.length, frontier: frontier.length, current: 1, deployed: 1 },
      marks: Object.fromEntries(Object.keys(MARKS).map((kind) => [kind, this.say(`is_${kind}`)])),
      find: (query) => (dots && query.lambda_fair === settings.lambda_fair ? dots : this.models.picture(query, this.language)),
    };
    const send = (_, message) => this.go(this.points.find(({ kind, place }) => `${kind} ${place}` === message).query);
    mount({ parentElement: this.root, data, setTriggerValue: send });
  }

  // ---- the controls ----

  controls() {
    const { words, pack } = this, rest = build("details", { class: "later" }, build("summary", {}, this.say("more_controls")));
    rest.open = $("#sliders details")?.open ?? innerWidth > 640;
    const control = (name, input, kind = "") => {
      input.addEventListener("input", () => this.go({ ...this.settings, [name]: pack.grid[name][input.value] ?? input.value }));
      input.addEventListener("change", () => {
        this.draw();
        this.link();
      });
      const label = build("label", { for: input.id }, words.controls[name], build("output", { for: input.id }));
      return build("div", { class: `control st-key-${input.id} ${kind}` }, label, input);
    };
    const [first, ...sliders] = SLIDERS.map((name, i) => {
      const input = build("input", { type: "range", id: `set_${name}`, min: 0, max: pack.grid[name].length - 1 });
      const row = control(name, input, i ? "" : "first");
      row.hidden = i > 0 && pack.grid[name].length < 2; // nothing to choose
      return row;
    });
    const choices = CHOICES.map((name) => {
      const options = pack.grid[name].map((value) => build("option", { value }, words.options[name][value]));
      return control(name, build("select", { id: `set_${name}` }, ...options));
    });
    rest.append(...sliders, ...choices);
    $("#sliders").replaceChildren(first, rest);
    this.place();
  }

  // Put the controls where the setting is.
  place() {
    for (const name of CHOICES) $(`#set_${name}`).value = this.settings[name];
    for (const name of SLIDERS) {
      const input = $(`#set_${name}`), value = this.settings[name];
      input.value = this.pack.grid[name].indexOf(value);
      input.setAttribute("aria-valuetext", value);
      input.previousElementSibling.querySelector("output").textContent = written(value, this.language);
    }
  }

  // ---- what is drawn around the component ----

  tradeoff() {
    const { models, settings, words } = this, { span } = this.pack.criteria[settings.fairness];
    const of = (kind) => this.points.filter((each) => each.kind === kind).map(({ at }) => at);
    const tried = this.tried.filter((each) => each.fairness === settings.fairness).map((each) => models.point(each));
    const moving = { line: of("line"), tried, current: [models.point(settings)], deployed: [this.deployed] };
    const along = ([low, high], value) => (value - low + 0.06 * (high - low)) / (1.12 * (high - low) || 1);
    const across = (value) => LEFT + along(span[0], value) * (WIDE - LEFT - 12);
    const up = (value) => TOP + (1 - along(span[1], value)) * (HIGH - BELOW - TOP);
    const at = (point) => [across(point.fairness), up(point.accuracy)];
    const [axis, accuracy] = [words.axis[settings.fairness], words.names[settings.fairness][1]];
    const layer = ([kind, points]) => {
      const way = kind === "frontier" ? [...points].sort((a, b) => a.fairness - b.fairness) : kind === "line" ? points : [];
      const marks = points.map((point) => build("path", {
        d: MARKS[kind], transform: `translate(${at(point)})`, role: "img",
        "aria-label": `${this.say(`is_${kind}`)}, ${axis} ${this.number(point.fairness, 3)}, ${accuracy} ${this.percent(point.accuracy)}`,
      }));
      return build("g", { class: kind }, build("path", { class: "way", d: way.length ? `M${way.map(at).join("L")}` : "" }), ...marks);
    };
    const key = `${settings.fairness} ${this.language}`; // what stays while a slider moves is drawn once
    if (this.ground !== key) {
      this.ground = key;
      this.drawGround(span, across, up, axis, accuracy, layer(["frontier", of("frontier")]));
    }
    $("#tradeoff .moving").replaceChildren(...Object.entries(moving).map(layer));
  }

  drawGround(span, across, up, axis, accuracy, frontier) {
    const chart = build("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": this.say("tradeoff") });
    const text = (x, y, side, words) => build("text", { x, y, "text-anchor": side }, words);
    for (const tick of this.ticks(span[0])) {
      chart.append(build("line", { class: "axis", x1: across(tick), x2: across(tick), y1: TOP, y2: HIGH - BELOW }));
      chart.append(text(across(tick), HIGH - BELOW + 16, "middle", this.number(tick, 2)));
    }
    for (const tick of this.ticks(span[1])) {
      chart.append(build("line", { class: "axis", x1: LEFT, x2: WIDE - 12, y1: up(tick), y2: up(tick) }));
      chart.append(text(LEFT - 6, up(tick) + 4, "end", this.percent(tick, 0)));
    }
    chart.append(text(WIDE - 12, HIGH - 6, "end", this.words.along[this.settings.fairness]), text(0, 12, "start", `↑ ${accuracy}`));
    chart.append(frontier, build("g", { class: "moving" }));
    const legend = Object.keys(MARKS).map((kind) => {
      const mark = build("g", { class: kind }, build("path", { d: MARKS[kind], role: "none" }));
      return build("span", { class: `of_${kind}` }, build("svg", { viewBox: "-10 -10 20 20", "aria-hidden": "true" }, mark), this.say(`is_${kind}`));
    });
    $("#tradeoff .body").replaceChildren(chart, build("div", { class: "legend" }, ...legend));
  }

  intervals() {
    const [fair, accuracy] = [this.models.figure(this.settings), this.models.figure(this.settings, "accuracy")];
    const [name, other] = this.words.names[this.settings.fairness], known = fair.g_low !== null && accuracy.g_low !== null;
    const values = {
      name, low: this.number(fair.g_low, 2), high: this.number(fair.g_high, 2),
      other, least: this.percent(accuracy.g_low), most: this.percent(accuracy.g_high),
    };
    $("#dots .intervals").textContent = known ? this.say("intervals", values) : "";
  }

  ticks([low, high]) {
    const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((each) => (high - low) / each <= 6) ?? 0.5, first = Math.ceil(low / step);
    return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
  }

  bars(rows) {
    const most = Math.max(...rows.map(({ size }) => size), 1e-9);
    return build("table", {}, build("tbody", {}, ...rows.map(({ name, size, kind, label }) => {
      const bar = build("span", { class: `bar ${kind}` });
      bar.style.width = `${(100 * size) / most}%`;
      return build("tr", {}, build("th", { scope: "row" }, name), build("td", {}, bar), build("td", { class: "count" }, label));
    })));
  }

  changes() {
    const people = this.models.part(this.settings, "people"), groups = this.models.part(this.settings, "picture", "groups");
    $("#changes .body").replaceChildren(this.bars(people.flatMap(([raised, lowered], i) => ["better", "worse"].map((kind) => {
      const count = (kind === "better") === this.pack.good ? raised : lowered;
      const name = `${capital(this.words.called[i])}${this.words.colon} ${this.say(kind)}`;
      const label = this.say("of", { count: this.number(count), of: this.number(groups[i].count) });
      return { name, kind, size: count / groups[i].count, label };
    }))));
  }

  checks() {
    const answers = this.models.part(this.settings, "checks"), { checks, marks } = this.words;
    const lines = answers.map(([name, mark, part, whole, expected]) => {
      const values = { part: this.number(part), whole: this.number(whole), share: this.percent(part / whole), expected: this.number(Math.round((expected ?? 0) * whole)) };
      const answer = ` · ${checks[name]} ${whole ? this.say(`check_${name}`, values) : ""}`;
      return build("li", {}, build("strong", { class: mark }, marks[mark].join(" ")), answer);
    });
    const found = lines.length ? build("ul", { class: "checks" }, ...lines) : build("p", {}, this.say("nobody"));
    $("#checks .body").replaceChildren(found, build("p", { class: "caption" }, this.say("refits")));
  }

  concepts() {
    const { settings, pack, words } = this, model = this.models.part(settings, "model"), counts = model.step !== undefined;
    const card = (title, inside) => build("div", {}, build("h3", {}, title), inside);
    const cards = [];
    const groups = pack.groups[`${settings.fairness} ${settings.update}`][pack.grid.k.indexOf(settings.k)];
    for (const part of counts ? ["s"] : ["r", "s"]) {
      const weights = pairs(model[part]?.[1] ?? []), shift = part === "s" && !counts ? `, ${this.say("shift")}` : "";
      groups.forEach((group, i) => {
        const own = group.filter((feature) => weights.has(feature)).map((feature) => [feature, weights.get(feature)]);
        const rows = own.sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).map(([feature, value]) => ({
          name: words.features[feature], size: Math.abs(value), kind: value > 0 ? "more" : "less",
          label: `${value > 0 ? "+" : "−"}${this.number(Math.abs(value), 3)}`,
        }));
        if (rows.length) cards.push(card(`${this.say("concept")} ${i + 1}${shift}`, this.bars(rows)));
      });
    }
    $("#concepts .caption").textContent = this.say(`update_${settings.update}`);
    $("#concepts .body").replaceChildren(cards.length ? build("div", { class: "cards" }, ...cards) : this.say("no_concepts"));
  }

  tree() {
    const nodes = this.models.part(this.settings, "tree");
    const below = (parent) => build("ul", { class: "nodes" }, ...nodes.filter((node) => node[1] === parent).map(
      ([node, , rule, leaf, count, changed]) => {
        const words = `${parent < 0 ? this.say("everyone") : (this.words.rules[rule] ?? rule)}${this.words.colon} `;
        const counted = this.say("changed_of", { changed: this.number(changed), count: this.number(count) });
        return build("li", {}, words + counted, leaf ? "" : below(node));
      }));
    $("#tree .caption").textContent = nodes.length ? this.say("tree_says") : "";
    $("#tree .body").replaceChildren(nodes.length ? below(-1) : this.say("nobody"));
  }

  // ---- one person ----

  person(number = 0, cells = null) {
    const { person } = this.pack;
    $("#person").hidden = !person;
    if (!person) return;
    this.number = number;
    this.cells = [...(cells ?? person.people[number] ?? person.middle)];
    $("#person .caption").textContent = this.say(person.people.length ? "person_says" : "middle_says");
    const fields = person.columns.map(({ levels, low, high }, i) => {
      const named = this.words.columns[i], range = build("span", { class: "range" }, levels ? "" : this.say("range", named));
      const options = (named.levels ?? []).map((level, place) => build("option", { value: place }, level));
      const input = levels ? build("select", {}, ...options) : build("input", { type: "number", min: low, max: high, step: "any" });
      input.value = levels ? levels.indexOf(this.cells[i]) : this.cells[i];
      input.addEventListener("input", () => {
        const value = levels ? levels[input.value] : input.valueAsNumber, fits = levels || (value >= low && value <= high);
        input.setAttribute("aria-invalid", !fits);
        range.textContent = levels ? "" : this.say(fits ? "range" : "out_of_range", named);
        if (fits) this.cells[i] = value;
        this.decide();
      });
      return build("label", {}, named.label, input, range);
    });
    const next = build("button", { type: "button" }, this.say("next_person"));
    next.hidden = person.people.length < 2;
    next.addEventListener("click", () => {
      this.person((number + 1) % person.people.length);
      this.decide();
      $("#person button").focus();
    });
    $("#person .body").replaceChildren(build("div", { class: "fields" }, ...fields), build("p", {}, next));
  }

  decide() {
    if (!this.pack.person) return;
    if ($('#person [aria-invalid="true"]')) return void ($("#person .answer").textContent = this.say("not_decided"));
    const { f, g, r } = this.models.decide(this.settings, this.cells), { line } = this.pack.person;
    const score = (logit) => this.percent(1 / (1 + Math.exp(-(logit + line)))), says = (logit) => this.words[logit > 0 ? "yes" : "no"];
    const values = { yes: this.words.yes, f: score(f), g: score(g), f_says: says(f), g_says: says(g) };
    const ratio = r === undefined ? "" : ` ${this.say("person_r", { r: this.number(r, 2) })}`;
    $("#person .answer").textContent = this.say(f > 0 === g > 0 ? "person_stays" : "person_changes", values) + ratio;
  }
}

// ---- the lesson: three times a guess, a slider, a surprise ----

class Lesson {
  constructor(page) {
    const { pack, models, start } = page, { lambda_fair } = pack.grid, at = (value) => ({ ...start, lambda_fair: value });
    const changed = (value) => models.part(at(value), "picture", "changes").count > 0, last = lambda_fair.at(-1);
    const goal = lambda_fair.find((value) => Number(value) >= Number(start.lambda_fair) && changed(value)) ?? last;
    this.groups = models.part(start, "picture", "groups").map(({ before, of_100 }) => ({ before, of_100: of_100.before }));
    const rates = this.groups.map(({ before }) => before);
    Object.assign(this, { page, step: 0, stage: "guess", goals: [lambda_fair[0], goal, last], guesses: [50, 50, 50] });
    this.high = rates.indexOf(Math.max(...rates));
    this.low = rates.indexOf(Math.min(...rates));
    page.settings = at(lambda_fair[0]);
  }

  // What the question is about, and what the model says.
  values() {
    const { page, step, groups } = this, { models, start, pack, words } = page, goal = this.goals[step];
    const there = { ...start, lambda_fair: goal }, { count, of } = models.part(there, "picture", "changes");
    const fair = models.figure(there), accuracy = models.figure(there, "accuracy");
    const worse = models.part(there, "people").reduce((sum, [raised, lowered]) => sum + (pack.good ? lowered : raised), 0);
    return {
      one: words.called[this.high], other: words.called[this.low], first: groups[this.high].of_100, second: groups[this.low].of_100,
      story: words.story, yes: words.yes, bad: pack.good ? words.no : words.yes, worse: page.number(worse), guess: this.guesses[step],
      control: words.controls.lambda_fair, goal: written(goal, page.language), last: written(this.goals[2], page.language),
      changed: page.number(count), of: page.number(of), share: page.number((100 * count) / of),
      before: page.number(100 * accuracy.f), now: page.number(100 * accuracy.g),
      figure: words.names[start.fairness][0], meaning: words.meaning[start.fairness], f: page.number(fair.f, 2), g: page.number(fair.g, 2),
    };
  }

  // Dots alone while there is nothing else to see: in the first step, one group has as many as are guessed.
  picture() {
    if (this.stage !== "guess" && this.step) return null;
    const { page, step, stage, groups } = this, real = page.models.picture(page.settings, page.language);
    const shown = [this.high, this.low].sort((a, b) => a - b).map((i) => {
      const asked = i === this.low && stage === "guess" && step === 0, { of_100 } = groups[i], called = page.words.called[i];
      const label = `${capital(called)}\n${asked ? "?" : page.say("of", { count: of_100, of: 100 })}`;
      return { label, of_100: { now: asked ? this.guesses[0] : of_100, raised: 0, lowered: 0 } };
    });
    const text = { setting: "", figures: [], intervals: [], groups: shown.map(({ label }) => label), verdict: "" };
    return { ...real, groups: shown, text };
  }

  write() {
    const { page, step, stage, guesses } = this, values = this.values(), row = build("div", { class: "row" });
    document.body.classList.toggle("asking", stage === "guess" || step === 0);
    const button = (name, click) => {
      row.append(build("button", { type: "button", class: "main" }, page.say(name)));
      row.lastChild.addEventListener("click", click);
    };
    const said = { guess: `ask_${step + 1}`, move: "move", surprise: `surprise_${step + 1}` }[stage];
    const words = [build("p", { class: stage }, page.say(said, values))];
    if (stage === "guess") {
      const slider = build("input", { type: "range", min: 0, max: 100, id: "guess", "aria-label": page.say("guess") });
      const shown = build("output", { for: "guess" }, String(guesses[step]));
      slider.value = guesses[step];
      slider.addEventListener("input", () => {
        shown.textContent = guesses[step] = Number(slider.value);
        page.draw();
      });
      row.append(slider, shown);
      button("guess", () => this.turn(step ? "move" : "surprise"));
    } else if (stage === "surprise") {
      words.push(build("p", {}, page.say("you_said", values)));
      button(step < 2 ? "next" : "done", () => (step < 2 ? this.turn("guess", step + 1) : $("#skip").click()));
    }
    $("#guide").replaceChildren(build("p", { class: "caption" }, `${step + 1} / 3`), ...words, row);
  }

  turn(stage, step = this.step) {
    Object.assign(this, { stage, step });
    this.page.draw();
    this.write();
    $({ guess: "#guess", move: "#set_lambda_fair", surprise: "#guide button" }[this.stage]).focus();
  }

  // The surprise comes when the slider is where it was asked to be, or beyond.
  moved() {
    const { lambda_fair } = this.page.settings;
    if (this.stage !== "move" || Number(lambda_fair) < Number(this.goals[this.step])) return;
    this.goals[this.step] = lambda_fair;
    this.stage = "surprise";
    this.write();
  }
}

const unpack = async () => {
  const bytes = Uint8Array.from(atob($("#pack").textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
unpack().then((pack) => (window.commod = new Page(pack)), () => {
  document.body.prepend(build("p", { role: "alert" }, "This browser is too old for this page: please use one from 2023 or later."));
});
