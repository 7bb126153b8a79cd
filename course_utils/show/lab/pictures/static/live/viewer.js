// The attention viewer: tokens on both sides, a line for every weight. A tap keeps a token, one on each side.
import { make, bytes, paced } from './kit.js';

const STEP = 65535; // weights come as whole numbers, 65535 = 1

export function render(host, state) {
  const { query_tokens: queries, key_tokens: keys, width } = state, [layers, heads, n, m] = state.shape;
  const weights = new Uint16Array(bytes(state.weights).buffer), vectors = new Float32Array(bytes(state.vectors).buffer);
  const chosen = { layer: state.layer, head: state.head };
  const element = (tag, { text, ...attributes }, parent) => {
    const made = make(tag, attributes, text === undefined ? null : String(text));
    parent?.append(made);
    return made;
  };
  const row = Math.max(15, Math.min(26, Math.floor(560 / Math.max(n, m)))), tall = row * Math.max(n, m);
  const pinned = { query: null, key: null }; // places of the tokens that are kept
  let near = null; // a token: {side: "query" | "key", place}

  const root = element("div", { class: "attention-viewer", role: "group", "aria-label": "attention viewer" }, host);
  root.style.setProperty("--row", `${row}px`);
  const bar = element("div", { class: "bar" }, root);
  const menu = (name, count) => {
    if (count === 1) return;
    const label = element("label", { text: `${name} ` }, bar), select = element("select", {}, label);
    for (let k = 0; k < count; k++) element("option", { value: k, text: k + 1 }, select);
    select.value = chosen[name];
    select.addEventListener("change", () => { chosen[name] = Number(select.value); draw(); });
  };
  menu("layer", layers), menu("head", heads);
  element("span", { class: "help", text: matchMedia("(hover: none)").matches ? "tap a token on the left, then one on the right; tap again to let go"
    : "hover or arrow keys: one token · click or Enter: keep it, one on each side · Esc: let go" }, bar);

  const stage = element("div", { class: "stage" }, root);
  const column = (side, tokens) => {
    const list = element("div", { class: `column ${side}`, role: "listbox", "aria-label": side === "query" ? "queries" : "keys" }, stage);
    return tokens.map((token, place) => {
      const button = element("button", { type: "button", role: "option", text: token, title: `${side} ${place}: ${token}`,
                                         tabindex: place ? -1 : 0, "aria-selected": "false" }, list);
      const at = { side, place };
      button.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") { near = at; draw(); } });
      button.addEventListener("pointerleave", () => { near = null; draw(); });
      button.addEventListener("focus", () => { if (button.matches(":focus-visible")) { near = at; draw(); } });
      button.addEventListener("blur", () => { near = null; draw(); });
      button.addEventListener("click", () => { near = null; pinned[side] = pinned[side] === place ? null : place; draw(); });
      return button;
    });
  };
  const left = column("query", queries);
  const canvas = element("canvas", { "aria-hidden": "true" }, stage);
  const right = column("key", keys);
  const detail = element("div", { class: "detail", "aria-live": "polite" }, root);

  stage.addEventListener("keydown", (event) => {
    const side = left.includes(event.target) ? left : right, place = side.indexOf(event.target);
    const goal = { ArrowDown: [side, place + 1], ArrowUp: [side, place - 1], ArrowLeft: [left, place], ArrowRight: [right, place],
                   Home: [side, 0], End: [side, side.length - 1] }[event.key];
    if (event.key === "Escape") { pinned.query = pinned.key = near = null; draw(); }
    if (!goal || place < 0) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook would move to another cell
    const [list, to] = goal, next = list[Math.max(0, Math.min(list.length - 1, to))];
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  const weight = (i, j) => weights[((chosen.layer * heads + chosen.head) * n + i) * m + j] / STEP;

  function describe(query, key) {
    const text = [], w = query !== null && key !== null ? weight(query, key) : null;
    detail.replaceChildren();
    if (w !== null) {
      const rank = 1 + keys.filter((_, j) => weight(query, j) > w).length;
      text.push(`"${queries[query]}" (${query}) looks at "${keys[key]}" (${key}): weight ${w.toFixed(3)}, number ${rank} of ${m}`);
    } else if (query !== null) {
      const order = keys.map((_, j) => j).sort((a, b) => weight(query, b) - weight(query, a)).slice(0, 4);
      text.push(`"${queries[query]}" (${query}) looks at ` + order.map((j) => `"${keys[j]}" ${weight(query, j).toFixed(2)}`).join(", "));
    } else if (key !== null) {
      const sum = queries.reduce((total, _, i) => total + weight(i, key), 0);
      text.push(`"${keys[key]}" (${key}) gets ${sum.toFixed(2)} of the ${n} weights that are given out`);
    }
    element("div", { text: text.join("") || "\u00a0" }, detail);
    if (w === null || !width) return;
    const block = (chosen.layer * heads + chosen.head), half = layers * heads * n * width;
    const q = vectors.subarray((block * n + query) * width, (block * n + query + 1) * width);
    const k = vectors.subarray(half + (block * m + key) * width, half + (block * m + key + 1) * width);
    const products = Array.from(q, (value, d) => value * k[d]), most = Math.max(...products.map(Math.abs), 1e-9);
    const total = products.reduce((a, b) => a + b, 0);
    element("div", { text: `query · key = ${total.toFixed(2)}, divided by √${width}: ${(total / Math.sqrt(width)).toFixed(2)}. ` +
                           "A bar for each feature's part:" }, detail);
    const chart = element("div", { class: "parts", role: "img", "aria-label": `${width} products of query and key features` }, detail);
    for (const value of products) {
      const part = element("span", { class: value < 0 ? "minus" : "plus", title: value.toFixed(3) }, chart);
      part.style.height = `${Math.round(22 * Math.abs(value) / most)}px`;
    }
  }

  const draw = paced(paint);

  function paint() {
    const [query, key] = ["query", "key"].map((side) => (near?.side === side ? near.place : pinned[side]));
    const style = getComputedStyle(root), scale = window.devicePixelRatio || 1, wide = canvas.clientWidth || 220;
    canvas.width = wide * scale, canvas.height = tall * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.strokeStyle = style.getPropertyValue("--weight").trim() || "#3a7cbd";
    const alone = query !== null || key !== null;
    for (let i = 0; i < n; i++) {
      if (query !== null && i !== query) continue;
      for (let j = 0; j < m; j++) {
        if (query === null && key !== null && j !== key) continue;
        const w = weight(i, j);
        if (w < (alone ? 0.002 : 0.02)) continue;
        pen.globalAlpha = Math.min(1, query !== null && key !== null ? (j === key ? 1 : 0.1) : 0.12 + w);
        pen.lineWidth = 0.6 + 3 * w;
        pen.beginPath();
        pen.moveTo(0, (i + 0.5) * row);
        pen.bezierCurveTo(wide / 3, (i + 0.5) * row, (2 * wide) / 3, (j + 0.5) * row, wide, (j + 0.5) * row);
        pen.stroke();
      }
    }
    left.forEach((button, i) => shade(button, { side: "query", place: i }, key === null || query !== null ? null : weight(i, key)));
    right.forEach((button, j) => shade(button, { side: "key", place: j }, query === null ? null : weight(query, j)));
    describe(query, key);
  }

  function shade(button, at, amount) {
    button.style.setProperty("--amount", amount === null ? "0%" : `${Math.round(70 * amount)}%`);
    button.classList.toggle("pinned", pinned[at.side] === at.place);
    button.setAttribute("aria-selected", String(pinned[at.side] === at.place));
  }

  canvas.style.height = `${tall}px`;
  const watcher = new ResizeObserver(draw);
  watcher.observe(canvas);
  const theme = new MutationObserver(draw); // of the lab, on its body; of the book, on its root
  theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  draw();
  return () => { watcher.disconnect(); theme.disconnect(); };
}
