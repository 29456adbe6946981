// The form of the guide: it derives the features of lockstep.choose.features from typed figures and follows the trees of
// data/rules.json, which build.py has put into rules.js with their conditions in words. No other file is read.
"use strict";

(function () {
  const ofGraph = (f) => ({
    size: f.n + f.m,
    degree: f.m / Math.max(f.n, 1),
    ...(f.m > 0 && f.largest !== undefined ? { skew: f.largest / (f.m / f.n) } : {}),
  });
  const DERIVE = {
    toposort: (f) => ({
      size: f.n + f.m, degree: f.m / Math.max(f.n, 1), width: (f.n + f.m) / Math.max(f.depth, 1),
    }),
    sssp: (f) => ({ ...ofGraph(f), near: f.near }), // in %, as it is typed
    coloring: ofGraph,
    sgd: (f) => ({
      size: f.m, degree: f.m / Math.max(f.users + f.items, 1), share: (100 * f.largest) / Math.max(f.m, 1),
    }),
    swarm: (f) => ({
      graphs: f.graphs, size: (f.n + f.m) / Math.max(f.graphs, 1), degree: f.m / Math.max(f.n, 1),
    }),
  };

  function leaves(rule) {
    return rule.strategy ? [rule] : [...leaves(rule.low), ...leaves(rule.high)];
  }

  // What the rule of a machine answers: {strategy, leaf (null below the smallest size), entry, features}.
  function choose(machine, problem, figures) {
    const entry = window.lockstepRules.machines[machine][problem];
    const features = DERIVE[problem](figures);
    if (entry.small && features.size < entry.small[0]) {
      return { strategy: entry.small[1], leaf: null, entry, features };
    }
    let leaf = entry.rule;
    while (!leaf.strategy) leaf = features[leaf.feature] > leaf.threshold ? leaf.high : leaf.low;
    return { strategy: leaf.strategy, leaf, entry, features };
  }
  window.lockstepChooser = { choose };

  const form = document.getElementById("chooser");
  if (!form) return;
  const { problems, machines } = window.lockstepRules;

  function make(parent, tag, text, settings) {
    const element = Object.assign(document.createElement(tag), settings || {});
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  }
  function select(label, name, options) {
    const box = make(make(form, "label", label), "select", undefined, { name });
    for (const [value, text] of options) make(box, "option", text, { value });
    return box;
  }
  const count = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });

  form.textContent = "";
  form.addEventListener("submit", (event) => event.preventDefault());
  const problem = select("to compute", "problem", Object.entries(problems).map(([name, one]) => [name, one.title]));
  const machine = select("on", "machine", []);
  const asked = make(form, "div", undefined, { className: "chooser-figures" });
  const answer = make(form, "div", undefined, { className: "chooser-answer" });
  answer.setAttribute("role", "status");

  function ask() {
    const before = machine.value;
    machine.textContent = "";
    for (const name of Object.keys(machines)) {
      if (machines[name][problem.value]) make(machine, "option", name, { value: name });
    }
    if ([...machine.options].some((one) => one.value === before)) machine.value = before;
    asked.textContent = "";
    for (const [figure, label, first] of problems[problem.value].asked) {
      make(make(asked, "label", label), "input", undefined, {
        name: figure, value: first.toLocaleString("en-US"), inputMode: "decimal", required: true,
      });
    }
    show();
  }

  // Whole numbers from 0, with or without separators; for a share also a fraction, at most 100.
  function read(box) {
    const value = Number(box.value.replace(/[\s,_]/g, "") || NaN);
    if (!(value >= 0) || !Number.isFinite(value)) return "a number from 0";
    if (box.name === "near") return value <= 100 ? value : "a share from 0 to 100 %";
    if (!Number.isInteger(value)) return "a whole number";
    return value || !["n", "depth", "users", "items", "graphs"].includes(box.name) ? value : "1 or more";
  }

  function show() {
    answer.textContent = "";
    const figures = {};
    for (const box of asked.querySelectorAll("input")) {
      const value = read(box);
      box.setCustomValidity(typeof value === "string" ? value : "");
      if (typeof value === "string") {
        make(answer, "p", `${box.parentNode.firstChild.textContent}: expected ${value}`);
        return;
      }
      figures[box.name] = value;
    }
    const { strategy, leaf, entry, features } = choose(machine.value, problem.value, figures);
    const { units, note } = problems[problem.value];
    make(make(answer, "p", "Take "), "code", strategy, { className: "chooser-strategy" });
    if (leaf) answer.lastChild.append(`: ${leaf.what}.`);
    else {
      const size = `${count(entry.small[0])} ${units.size}`;
      answer.lastChild.append(`: below ${size} it is done before a launch has been read back.`);
    }
    const seen = Object.entries(features).map(([name, value]) => `${count(value)} ${units[name]}`);
    make(answer, "p", `This input: ${seen.join("; ")}.`);
    const table = make(make(answer, "div", undefined, { className: "chooser-rule" }), "table");
    const head = make(make(table, "thead"), "tr");
    for (const text of ["the rule: with", "take", "recorded graphs"]) make(head, "th", text);
    const body = make(table, "tbody");
    for (const one of leaves(entry.rule)) {
      const line = make(body, "tr", undefined, { className: one === leaf ? "chooser-taken" : "" });
      make(line, "td", one === entry.rule ? "any size" : one.condition);
      make(make(line, "td"), "code", one.strategy);
      make(line, "td", String(one.graphs.length), { title: one.graphs.join(", ") });
    }
    if (leaf) {
      const graphs = make(answer, "details");
      make(graphs, "summary", `Decided on ${leaf.graphs.length} recorded graphs`);
      make(graphs, "p", leaf.graphs.join(", "));
    }
    if (entry.graphs) {
      const [worst, where] = entry.worst;
      const span = `${count(entry.regret)} times the best time on average, at most ${count(worst)} times (${where})`;
      make(answer, "p", `On ${entry.graphs} graphs, each left out of the fit, the rule's choice takes ${span}.`);
    }
    if (note) make(answer, "p", `The choice is ${note}.`);
  }

  problem.addEventListener("change", ask);
  machine.addEventListener("change", show);
  asked.addEventListener("input", show);
  ask();
})();
