/* The search page: sections, best first (rank.js), each with the place where the words stand. found.js and homes.js are made with the book. */
(() => {
  "use strict";
  const MOST = 40, FIRST = 6, MISTAKES = 4;  // results; of them before the mistakes; mistakes
  const AROUND = 90;  // letters before and after a word that is found
  const field = document.querySelector(".bd-search-container input[name=q]"), results = document.getElementById("search-results");
  const make = (tag, attributes, ...children) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  };
  const said = make("p", { className: "search-said" }), list = make("ol", { className: "search-found" });
  said.setAttribute("role", "status");
  results.replaceChildren(said, list);

  const marked = (text, any) => {
    const parts = [];
    let end = 0;
    for (const found of text.matchAll(any)) {
      parts.push(text.slice(end, found.index), make("mark", {}, found[0]));
      end = found.index + found[0].length;
    }
    return [...parts, text.slice(end)];
  };

  /* The stretch of the text that holds the most of the words; the first of the text where only the heading has them. */
  const excerpt = (text, words, any) => {
    const places = [...text.matchAll(any)].map((found) => found.index);
    const worth = (at) => words.filter((word) => text.slice(at, at + 2 * AROUND).search(word) >= 0).length;
    const best = places.slice(0, 60).reduce((one, at) => (worth(at) > worth(one) ? at : one), places[0] ?? 0);
    const from = Math.max(0, best - AROUND), to = Math.min(text.length, best + 2 * AROUND);
    const start = from ? text.indexOf(" ", from) + 1 : 0, stop = to < text.length ? text.lastIndexOf(" ", to) : to;
    return [start ? "… " : "", ...marked(text.slice(start, Math.max(stop, start)), any), stop < text.length ? " …" : ""];
  };

  const search = () => {
    list.replaceChildren();
    said.textContent = "";
    if (!field.value.trim()) return;
    const { words, found: ranked, question, mistakes } = courseRank(courseFound, courseHomes, field.value);
    const any = new RegExp(words.map((word) => word.source).join("|"), "giu");
    const whole = ranked.filter(([, share]) => share > .99), found = whole.length > 2 ? whole : ranked;
    said.textContent = !found.length ? "No section has these words. Try others, or only the beginning of a word."
      : `${found.length} section${found.length > 1 ? "s" : ""}${found.length > MOST ? `; the best ${MOST} are shown` : ""}`
        + (whole.length ? "" : "; none has all of the words");
    if (question) list.append(make("li", { className: "search-answer" },
      make("a", { href: `${question.page}#${question.place}` }, question.heading), make("p", {}, ...marked(question.text, any))));
    const shown = [...found.slice(0, FIRST), ...mistakes.slice(0, MISTAKES), ...found.slice(FIRST, MOST)];
    list.append(...shown.map(([, , { page, place, chapter, heading, text }]) => make("li", {},
      make("a", { href: `${page}#${place}` }, ...marked(heading, any)),
      make("span", { className: "search-chapter" }, chapter === heading ? "" : chapter),
      make("p", {}, ...excerpt(text, words, any)))));
  };

  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", search);
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`);
    search();
  });
  search();
})();
