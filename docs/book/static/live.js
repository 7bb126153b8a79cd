/* Sliders and widgets of the pages, without a kernel, a server or a request. Without it the still picture stands in its place. */
(() => {
  "use strict";
  if (location.search === "?print") return;  // on paper the still picture stands

  const here = document.currentScript.src.replace(/[^/]*$/, "");
  window.courseLive = { widgets: {}, states: {} };  // filled by the scripts that are loaded when they are needed

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };

  /* A still picture or text under sliders: every position has a frame. */
  function sliders(place, number) {
    const told = JSON.parse(place.querySelector("script").textContent);
    const stage = place.querySelector(".live-stage"), at = [...told.start], first = told.start.join();
    const images = [...stage.querySelectorAll("img")], texts = [...stage.querySelectorAll("pre")];
    const kept = ["src", "alt", "width", "height"];
    told.frames[first] = [...images.map((image) => Object.fromEntries(kept.map((name) => [name, image.getAttribute(name)]))),
      ...texts.map((text) => ({ text: text.textContent }))];
    texts.forEach((text) => text.setAttribute("aria-live", "polite"));

    const show = () => {
      const items = told.frames[at.join()], pictures = items.filter((item) => item.src), said = items.filter((item) => !item.src);
      images.forEach((image, i) => {
        for (const name of kept) image.setAttribute(name, pictures[i][name]);
        const button = image.closest("button");  // book.js has made it one that enlarges
        if (button) button.setAttribute("aria-label", `Enlarge the picture: ${image.alt}`);
      });
      texts.forEach((text, i) => { text.textContent = said[i].text; });
      fields.forEach(({ input, output }, k) => {
        const value = told.values[k][at[k]];
        input.value = at[k];
        input.setAttribute("aria-valuetext", value);
        output.textContent = value;
      });
    };
    let ready = false;
    const load = () => {  // so that no frame is fetched while it is dragged over
      if (ready) return;
      ready = true;
      Object.values(told.frames).flat().forEach((item) => { if (item.src) new Image().src = item.src; });
    };

    const controls = make("div", { class: "live-controls", role: "group", "aria-label": "sliders" });
    const fields = told.names.map((name, k) => {
      const id = `live-${number}-${k}`;
      const input = make("input", { type: "range", id, min: 0, max: told.values[k].length - 1, step: 1 });
      const output = make("output", { for: id });
      input.addEventListener("input", () => {
        if (!told.together) told.start.forEach((value, other) => { at[other] = value; });
        at[k] = Number(input.value);
        show();
      });
      controls.append(make("label", { for: id }, name), input, output);
      return { input, output };
    });
    controls.addEventListener("pointerenter", load);
    controls.addEventListener("focusin", load);
    place.prepend(controls);
    if (!told.together) {
      controls.after(make("p", { class: "live-note" }, "On this page one slider moves at a time, and the others go back to where they "
        + "began. In the lab they move together."));
    }
    show();
  }

  /* What a widget knows of its model in the lab: get, set, on, off, save_changes. */
  function model(state) {
    const heard = new Map();
    const tell = (name) => (heard.get(name) || []).forEach((listener) => listener());
    return {
      get: (name) => state[name],
      set: (name, value) => { state[name] = value; tell(`change:${name}`); },
      on: (name, listener) => heard.set(name, [...(heard.get(name) || []), listener]),
      off: (name, listener) => heard.set(name, (heard.get(name) || []).filter((other) => other !== listener)),
      save_changes: () => {},
      repaint: () => [...heard.keys()].forEach(tell),
    };
  }

  const loading = new Map();
  const fetched = (tag, attributes) => {
    const key = attributes.src || attributes.href;
    if (!loading.has(key)) {
      loading.set(key, new Promise((done, failed) => {
        const element = make(tag, attributes);
        element.addEventListener("load", done);
        element.addEventListener("error", failed);
        document.head.append(element);
      }));
    }
    return loading.get(key);
  };

  async function widget(place) {
    const { live: kind, state: name, replaces } = place.dataset;
    await Promise.all([fetched("link", { rel: "stylesheet", href: `${here}live/${kind}.css` }),
      fetched("script", { src: `${here}live/${kind}.js` }), fetched("script", { src: `${here}live/${name}.js` })]);
    const state = Object.fromEntries(Object.entries(courseLive.states[name]).map(([key, value]) =>
      [key, value && value.base64 !== undefined
        ? new DataView(Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)).buffer) : value]));
    const made = model(state), el = make("div", { class: "live-widget" });
    place.append(el);
    if (replaces === "true") place.querySelector(".live-stage").hidden = true;
    courseLive.widgets[kind]({ model: made, el });
    new MutationObserver(() => made.repaint()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  const start = () => {
    const near = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
      near.unobserve(target);
      widget(target);
    }), { rootMargin: "800px" });
    document.querySelectorAll(".live").forEach((place, number) => {
      if (place.dataset.live === "frames") sliders(place, number);
      else near.observe(place);
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
