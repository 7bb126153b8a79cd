// The family tree to click through: one row for each member, and the way to its ancestors. Nothing loaded from elsewhere.

const SPACE = "http://www.w3.org/2000/svg", ROW = 26, STEP = 18, EDGE = 10;
const MARKS = { "encoder": "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0", "decoder": "M-5.5-5.5h11v11h-11z", "encoder–decoder": "M0-7.5 7.5 0 0 7.5-7.5 0z",
                "not a Transformer": "M0-7 7 5.5H-7z" };

export function render(host, state) {
  let selected = state.selected;
  const members = state.members, at = new Map(members.map((m, i) => [m.name, i]));
  const made = (tag, attributes, parent, space) => {
    const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") node.textContent = value;
      else node.setAttribute(name, value);
    }
    parent.append(node);
    return node;
  };
  const root = made("div", { class: "family-tree", role: "group", "aria-label": "family tree" }, host);
  made("div", { class: "help", text: "click, or arrow keys: up and down by date, left to the parent, right to the first child" }, root);
  const legend = made("div", { class: "help" }, root);
  ["encoder", "encoder–decoder", "decoder"].forEach((branch) => {
    const sign = made("svg", { viewBox: "-8 -8 16 16", width: 14, height: 14, "aria-hidden": "true" }, legend, SPACE);
    made("path", { d: MARKS[branch], class: "mark" }, sign, SPACE);
    sign.style.setProperty("--branch", members.find((m) => m.branch === branch).colour);
    made("span", { text: branch }, legend);
  });
  const stage = made("div", { class: "stage", role: "listbox", "aria-label": "members" }, root);
  const wide = STEP * Math.max(...members.map((m) => m.lane)) + 2 * EDGE, x = (lane) => EDGE + STEP * lane, y = (row) => ROW * (row + 0.5);
  stage.style.setProperty("--tree", `${wide}px`);
  const rows = members.map((m, place) => {
    const row = made("button", { type: "button", role: "option", tabindex: -1, "aria-selected": "false" }, stage);
    made("span", { class: "name", text: m.name }, row);
    made("span", { class: "change", text: m.change }, row);
    row.style.setProperty("--branch", m.colour);
    row.addEventListener("click", () => choose(place));
    return row;
  });
  const svg = made("svg", { "aria-hidden": "true", width: wide, height: ROW * members.length }, stage, SPACE);
  const lines = members.map((m) => m.path.length ? made("path", { class: "way", style: `--branch: ${m.colour}`, d: "M" + m.path.map(([lane, row]) =>
    `${x(lane)} ${y(row)}`).join("L") }, svg, SPACE) : null);
  const marks = members.map((m, i) => made("path", { class: "mark", style: `--branch: ${m.colour}`, d: MARKS[m.branch],
                                                     transform: `translate(${x(m.lane)} ${y(i)})` }, svg, SPACE));
  const detail = made("div", { class: "detail", "aria-live": "polite" }, root);

  function choose(place) {
    selected = members[place].name;
    draw();
  }

  stage.addEventListener("keydown", (event) => {
    const place = at.get(selected), m = members[place];
    const goal = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: members.length - 1, ArrowLeft: at.get(m.parent),
                   ArrowRight: members.findIndex((other) => other.parent === m.name) }[event.key];
    if (!(event.key.startsWith("Arrow") || ["Home", "End"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook would move to another cell
    if (goal === undefined || goal < 0 || goal >= members.length) return;
    choose(goal);
    rows[goal].focus();
  });

  function draw() {
    const place = at.get(selected) ?? 0, m = members[place], path = new Set();
    for (let i = place; i !== undefined; i = at.get(members[i].parent)) path.add(i);
    rows.forEach((row, i) => {
      row.setAttribute("aria-selected", String(i === place));
      row.tabIndex = i === place ? 0 : -1;
      row.classList.toggle("path", path.has(i));
      lines[i]?.classList.toggle("path", path.has(i));
      if (lines[i] && path.has(i)) svg.insertBefore(lines[i], marks[0]); // above the other lines
    });
    const text = [`${m.name} · ${m.branch} · ${m.date}${m.parent ? ` · after ${m.parent}` : ""}`, `The change: ${m.change}.`,
                  m.sizes ? `Parameters: ${m.sizes}.` : "",
                  `Chapter ${m.chapter}.`];
    detail.replaceChildren();
    text.filter(Boolean).forEach((line) => made("div", { text: line }, detail));
  }

  draw();
}
