/* What moves on the pages, without a kernel, a server or a request: a piece is brought when the reader comes near it.
   Until then, and on paper, its still picture stands in its place. The scripts are the modules of the lab's extension. */
(() => {
  "use strict";
  if (location.search === "?print") return;

  const here = document.currentScript.src.replace(/[^/]*$/, "");
  window.courseLive = { modules: {}, states: {} };  // filled by the scripts as they come

  const loading = new Map();
  const fetched = (tag, attributes) => {
    const key = attributes.src || attributes.href;
    if (!loading.has(key)) {
      loading.set(key, new Promise((done, failed) => {
        const element = Object.assign(document.createElement(tag), attributes);
        element.addEventListener("load", done);
        element.addEventListener("error", failed);
        document.head.append(element);
      }));
    }
    return loading.get(key);
  };

  async function bring(place) {
    const { live: kind, state, needs } = place.dataset;
    const styles = ["live", kind].map((name) => fetched("link", { rel: "stylesheet", href: `${here}live/${name}.css` }));
    if (state) await fetched("script", { src: `${here}live/${state}.js` });
    for (const name of needs.split(" ")) await fetched("script", { src: `${here}live/${name}.js` });  // in this order
    await Promise.all(styles);
    const still = [...place.querySelectorAll("img, pre")].map((one) => (one.tagName === "PRE" ? { text: one.textContent }
      : { src: one.getAttribute("src"), alt: one.alt, width: one.getAttribute("width") }));
    const root = Object.assign(document.createElement("div"), { className: `course-live ${kind}` });
    place.replaceChildren(root);
    courseLive.modules[kind].render(root, courseLive.states[state] || {}, { still });
  }

  const start = () => {
    const near = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
      near.unobserve(target);
      bring(target);
    }), { rootMargin: "800px" });
    document.querySelectorAll(".live").forEach((place) => near.observe(place));
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
