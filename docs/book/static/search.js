/* The search page: sections that hold all words, best first, each with the place where they stand. found.js is made with the book. */
(() => {
  "use strict";
  const MOST = 40, AROUND = 90;  // results; letters before and after a word that is found
  const field = document.querySelector(".bd-search-container input[name=q]"), results = document.getElementById("search-results");
  const make = (tag, attributes, ...children) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  };
  const said = make("p", { className: "search-said" }), list = make("ol", { className: "search-found" });
  said.setAttribute("role", "status");
  results.replaceChildren(said, list);

  const entries = courseFound.flatMap(([page, sections]) => sections.map(([place, heading, text]) => ({
    address: `${page}#${place}`, chapter: sections[0][1], heading, text,
    weight: page.startsWith("chapters/") ? 1.3 : page.startsWith("answers/") ? .7 : 1,
  })));
  const pattern = (word) => `(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}`;  // words may go on: kernel, kernels

  const score = (entry, words) => {
    let sum = 0;
    for (const word of words) {
      const inText = (entry.text.match(word) || []).length;
      const inHeading = word.test(entry.heading);
      word.lastIndex = 0;
      if (!inText && !inHeading) return 0;
      sum += Math.min(inText, 8) + (inHeading ? 20 : 0);
    }
    return sum * entry.weight;
  };

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
    const asked = field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    said.textContent = "";
    if (!asked.length) return;
    const words = asked.map((word) => new RegExp(pattern(word), "giu"));
    const any = new RegExp(asked.map(pattern).join("|"), "giu");
    const found = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points).sort((a, b) => b[0] - a[0]);
    said.textContent = found.length ? `${found.length} section${found.length > 1 ? "s" : ""}${found.length > MOST ? `; the best ${MOST} are shown` : ""}`
      : "No section has all of these words. Try fewer, or only the beginning of a word.";
    list.append(...found.slice(0, MOST).map(([, { address, chapter, heading, text }]) => make("li", {},
      make("a", { href: address }, ...marked(heading, any)),
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
