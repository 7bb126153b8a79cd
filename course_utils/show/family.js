// The family tree to click through: a button for each member, lines to its ancestors, what it changed. Nothing loaded from elsewhere.

const SPACE = "http://www.w3.org/2000/svg", ROW = 27;

function render({ model, el }) {
  const members = model.get("members"), at = new Map(members.map((m, i) => [m.name, i]));
  const made = (tag, attributes, parent, space) => {
    const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") node.textContent = value;
      else node.setAttribute(name, value);
    }
    parent.append(node);
    return node;
  };
  const root = made("div", { class: "family-tree", role: "group", "aria-label": "family tree" }, el);
  made("div", { class: "help", text: "click, or arrow keys: up and down by date, left to the parent, right to the first child" }, root);
  const stage = made("div", { class: "stage", role: "listbox", "aria-label": "members" }, root);
  stage.style.height = `${ROW * members.length + 8}px`;
  const svg = made("svg", { "aria-hidden": "true" }, stage, SPACE);
  const x = (m) => 10 + 19.5 * m.lane, y = (m) => ROW * (m.row + 0.5) + 4;
  const lines = members.map((m) => {
    const parent = members[at.get(m.parent)];
    return parent ? made("line", { x1: `${x(parent)}%`, y1: y(parent), x2: `${x(m)}%`, y2: y(m) }, svg, SPACE) : null;
  });
  const buttons = members.map((m, place) => {
    const button = made("button", { type: "button", role: "option", text: m.name, title: m.change, tabindex: -1, "aria-selected": "false" }, stage);
    button.style.left = `${x(m)}%`;
    button.style.top = `${y(m)}px`;
    button.style.setProperty("--branch", m.colour);
    button.addEventListener("click", () => choose(place));
    return button;
  });
  const detail = made("div", { class: "detail", "aria-live": "polite" }, root);

  function choose(place) {
    model.set("selected", members[place].name);
    model.save_changes();
    draw();
  }

  stage.addEventListener("keydown", (event) => {
    const place = at.get(model.get("selected")), m = members[place];
    const goal = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: members.length - 1, ArrowLeft: at.get(m.parent),
                   ArrowRight: members.findIndex((other) => other.parent === m.name) }[event.key];
    if (!(event.key.startsWith("Arrow") || ["Home", "End"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook would move to another cell
    if (goal === undefined || goal < 0 || goal >= members.length) return;
    choose(goal);
    buttons[goal].focus();
  });

  function draw() {
    const place = at.get(model.get("selected")) ?? 0, m = members[place], path = new Set();
    for (let i = place; i !== undefined; i = at.get(members[i].parent)) path.add(i);
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === place));
      button.tabIndex = i === place ? 0 : -1;
      button.classList.toggle("path", path.has(i));
      lines[i]?.classList.toggle("path", path.has(i));
      if (lines[i]) lines[i].style.stroke = path.has(i) ? members[i].colour : "";
    });
    const text = [`${m.name} · ${m.branch} · ${m.date}${m.parent ? ` · after ${m.parent}` : ""}`, `The change: ${m.change}.`,
                  m.sizes ? `Parameters: ${m.sizes}.` : "", m.measured ? `Measured on our small bodies: ${m.measured}.` : "",
                  `Chapter ${m.chapter}.`];
    detail.replaceChildren();
    text.filter(Boolean).forEach((line) => made("div", { text: line }, detail));
  }

  model.on("change:selected", draw);
  draw();
}

export default { render };
