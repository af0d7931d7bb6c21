"use strict";
// Adds a filter, keys and packed texts to a page that is complete without them.
//
// What comes from the page's data goes back into it by textContent and createElement alone: never as markup.
// A case is a row of `.all-cases` with data-status, data-change and data-category, in a group with data-suite and
// data-target; it has the case's id, or a link to it. Its trials are an `article.trials` whose data-case is that id, with
// data-bad where something failed. The fragment `#?status=failed&text=…` is a state of the filter; every other is an id.
(() => {
  const CHOICES = ["status", "suite", "target", "category"];
  const FAILING = ["failed", "error", "missing", "broken"]; // words for a status or a change
  const PAUSE = 120; // milliseconds between the last letter and the search

  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // --- the filter's state ---------------------------------------------------------------------------------------

  /** What a fragment says of the filter; null for one that is an id. */
  function stateOf(fragment) {
    if (!fragment.startsWith("#?")) return null;
    const found = new URLSearchParams(fragment.slice(2));
    const state = {};
    for (const name of [...CHOICES, "text"]) {
      const value = found.get(name);
      if (value) state[name] = value;
    }
    return state;
  }

  /** The fragment of a state: `#?` shows everything. */
  function fragmentOf(state) {
    const words = new URLSearchParams();
    for (const name of [...CHOICES, "text"]) if (state[name]) words.set(name, state[name]);
    return `#?${words}`;
  }

  /** Whether a case is to be shown. Its status is also what changed, and `failing` is all that needs a look. */
  function matches(state, entry) {
    const chosen = CHOICES.every((name) => !state[name] || entry.values[name].includes(state[name]));
    return chosen && words(state).every((word) => entry.text().includes(word));
  }

  const words = (state) => (state.text ?? "").toLowerCase().split(/\s+/).filter(Boolean);

  // --- the cases ------------------------------------------------------------------------------------------------

  /** A row of the table of all cases, with its trials. Its text is read when somebody searches. */
  function entryOf(row) {
    const { status, change, category } = row.dataset;
    const { suite, target } = row.parentElement.dataset;
    const failing = [status, change].some((word) => FAILING.includes(word)) ? "failing" : "";
    let text = null;
    return {
      row,
      trials: articles.get(row.id || row.querySelector("th a")?.hash.slice(1)),
      values: { status: [status, change, failing], suite: [suite], target: [target], category: [category] },
      text: () => (text ??= row.textContent.toLowerCase()),
    };
  }

  const articles = new Map(all("article.trials").map((article) => [article.dataset.case, article]));
  const entries = all(".all-cases tr[data-status]").map(entryOf);
  const form = byId("filter");
  const counter = byId("matching");

  function show(element, wanted) {
    if (element && element.hidden === wanted) element.hidden = !wanted;
  }

  function apply(state) {
    let shown = 0;
    for (const entry of entries) {
      const wanted = matches(state, entry);
      shown += wanted;
      show(entry.row, wanted);
      show(entry.trials, wanted);
    }
    for (const group of all(".all-cases tbody, .run-trials")) {
      show(group, all("tr[data-status], article.trials", group).some((element) => !element.hidden));
    }
    if (counter) counter.textContent = `${shown.toLocaleString("en")} of ${entries.length.toLocaleString("en")} cases`;
  }

  function readForm() {
    const state = {};
    for (const [name, value] of new FormData(form)) if (value) state[name] = value;
    return state;
  }

  function fillForm(state) {
    for (const control of form.elements) {
      if (!control.name) continue;
      control.value = state[control.name] ?? "";
      if (control.value === "" && state[control.name]) delete state[control.name]; // a choice that there isn't
    }
  }

  /** Put a fragment into the address without a step in the history; where that is forbidden nothing is lost. */
  function remember(fragment) {
    try {
      history.replaceState(null, "", fragment);
    } catch {
      // the page works without
    }
  }

  function changed() {
    const state = readForm();
    remember(fragmentOf(state));
    apply(state);
  }

  function reset() {
    fillForm({});
    apply({});
  }

  function startFilter() {
    let timer = 0;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", changed);
    form.addEventListener("input", (event) => {
      if (event.target.name !== "text") return;
      clearTimeout(timer);
      timer = setTimeout(changed, PAUSE);
    });
    form.addEventListener("reset", () => setTimeout(changed));
  }

  // --- fragments ------------------------------------------------------------------------------------------------

  function openAround(element) {
    for (let part = element.closest("details"); part; part = part.parentElement?.closest("details")) part.open = true;
  }

  /** Open what a fragment names, and go there. */
  function follow() {
    const state = stateOf(location.hash);
    if (state) {
      if (form) fillForm(state);
      apply(state);
      return;
    }
    const target = named(location.hash.slice(1));
    if (!target) return;
    if (target.closest("[hidden]") && form) reset();
    openAround(target);
    (target.matches(".inside") ? target.parentElement : target).scrollIntoView({ block: "start", behavior: "instant" });
  }

  function named(fragment) {
    try {
      return fragment ? byId(decodeURIComponent(fragment)) : null;
    } catch {
      return null; // no valid fragment
    }
  }

  // --- packed texts ---------------------------------------------------------------------------------------------

  async function unpacked(base64) {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(stream).json();
  }

  /** Put the long texts of a trial in place of their heads and tails, which stay where that can't be done. */
  async function unpack(trial) {
    const block = trial.querySelector("script.texts");
    if (!block || !("DecompressionStream" in window)) return;
    block.remove();
    const texts = await unpacked(JSON.parse(block.textContent));
    for (const place of all("[data-text]", trial)) {
      const text = document.createElement("pre");
      text.textContent = texts[Number(place.dataset.text)];
      text.className = "boxed";
      text.tabIndex = 0; // it scrolls, and keys have to reach it
      place.replaceChildren(text);
      place.removeAttribute("data-text");
    }
  }

  document.addEventListener(
    "toggle",
    (event) => {
      const opened = event.target;
      if (opened.open && opened.matches("details.trial")) unpack(opened).catch((error) => console.error(error));
    },
    true, // it doesn't bubble
  );

  // --- keys -----------------------------------------------------------------------------------------------------

  const help = byId("help");
  const keysOn = byId("keys-on");

  /** The failing cases that are shown, in the page's order. */
  function failing() {
    return all("article.trials[data-bad]").filter((article) => !article.closest("[hidden]"));
  }

  /** Go to the next (1) or the previous (-1) failing case after the one that was looked at. */
  function step(way) {
    const found = failing();
    if (found.length === 0) return;
    const here = document.activeElement?.closest("article.trials") ?? named(location.hash.slice(1))?.closest("article.trials");
    const at = found.indexOf(here);
    const place = at < 0 ? (way > 0 ? 0 : found.length - 1) : Math.min(Math.max(at + way, 0), found.length - 1);
    visit(found[place]);
  }

  /** The trial to look at first: one that failed, or the first. */
  function firstTrial(article) {
    return article.querySelector("details.trial[data-bad]") ?? article.querySelector("details.trial");
  }

  function visit(article) {
    const trial = firstTrial(article);
    const inside = trial?.querySelector(".inside");
    if (inside) {
      trial.open = true;
      remember(`#${inside.id}`);
    }
    article.tabIndex = -1;
    article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "start", behavior: "instant" });
  }

  function search() {
    if (!form) return;
    form.elements.text.focus();
    form.elements.text.select();
  }

  const KEYS = {
    j: () => step(1),
    k: () => step(-1),
    "/": search,
    "?": () => help?.showModal(),
  };

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help?.open) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea, [contenteditable]")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (keysOn && !keysOn.checked) return;
    const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
    if (!act) return;
    event.preventDefault();
    act();
  }

  document.addEventListener("keydown", pressed);
  byId("help-open")?.addEventListener("click", () => help?.showModal());

  // --- begin ----------------------------------------------------------------------------------------------------

  document.documentElement.classList.add("scripts"); // shows what only scripts can do
  if (form) startFilter();
  if (stateOf(location.hash) || !location.hash) apply(stateOf(location.hash) ?? {});
  window.addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
