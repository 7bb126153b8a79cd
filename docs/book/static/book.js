/* The book's own behaviour; no library, no request. Without it every picture still stands in its text. */
(() => {
  "use strict";

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };

  /* Pictures enlarge: each becomes a button that opens one dialog, which Escape closes. */
  function pictures() {
    const images = [...document.querySelectorAll(".bd-article img")].filter((image) => !image.closest("a, button, dialog, .live"));
    if (!window.HTMLDialogElement) return;

    const large = make("img", { alt: "" });
    const stage = make("div", { class: "picture-view-stage", tabindex: "0", role: "group", "aria-label": "Picture; arrow keys move it" },
      large);
    const smaller = make("button", { type: "button", "aria-label": "Smaller" }, "−");
    const larger = make("button", { type: "button", "aria-label": "Larger" }, "+");
    const close = make("button", { type: "button" }, "Close");
    const view = make("dialog", { class: "picture-view", "aria-label": "The picture, enlarged" },
      make("div", { class: "picture-view-bar" }, smaller, larger, close), stage);
    document.body.append(view);

    let width = 0, height = 0, scale = 1, opener = null;  // of the picture as it was drawn
    const show = (wanted) => {
      const x = (stage.scrollLeft + stage.clientWidth / 2) / Math.max(stage.scrollWidth, 1);
      const y = (stage.scrollTop + stage.clientHeight / 2) / Math.max(stage.scrollHeight, 1);
      scale = Math.min(Math.max(wanted, 0.2), 6);
      large.style.width = `${Math.round(width * scale)}px`;
      large.style.height = `${Math.round(height * scale)}px`;
      stage.scrollTo(x * stage.scrollWidth - stage.clientWidth / 2, y * stage.scrollHeight - stage.clientHeight / 2);
    };
    const open = (image, button) => {
      opener = button;
      width = Number(image.getAttribute("width")) || image.naturalWidth;
      height = Number(image.getAttribute("height")) || width * image.naturalHeight / image.naturalWidth;
      large.src = image.currentSrc || image.src;
      large.alt = image.alt;
      view.showModal();
      close.focus();
      const before = image.getBoundingClientRect().width / width;
      const whole = Math.min((stage.clientWidth - 16) / width, (stage.clientHeight - 16) / height);
      show(whole >= 1.25 * before ? Math.min(whole, 3) : Math.max(1, 1.5 * before));  // a phone is too narrow for all of it: it moves
      stage.scrollTo(0, 0);
    };

    smaller.addEventListener("click", () => show(scale / 1.3));
    larger.addEventListener("click", () => show(scale * 1.3));
    close.addEventListener("click", () => view.close());
    stage.addEventListener("click", () => view.close());
    view.addEventListener("close", () => opener.focus({ preventScroll: true }));
    view.addEventListener("keydown", (event) => {
      if (event.key === "Escape") view.close();
      if (event.key === "+" || event.key === "=") show(scale * 1.3);
      if (event.key === "-") show(scale / 1.3);
    });
    document.addEventListener("click", ({ target }) => {  // the picture under a slider is drawn when a reader comes near
      if (target.matches(".course-live.frames img")) open(target, target);
    });
    images.forEach((image) => {
      const button = make("button", { type: "button", class: "picture-button", "aria-haspopup": "dialog",
        "aria-label": `Enlarge the picture: ${image.alt}` });
      image.replaceWith(button);
      button.append(image);
      button.addEventListener("click", () => open(image, button));
    });
  }

  /* On paper a line of code that is too long goes on further in than it began, so that it cannot be read as a new line of Python. */
  function hang() {
    document.querySelectorAll(".bd-article .highlight pre:not([data-hung])").forEach((pre) => {
      pre.dataset.hung = "yes";
      let open = [];  // the tags that a line break stands in
      pre.innerHTML = pre.innerHTML.replace(/\n$/, "").split("\n").map((line) => {
        const before = open.join("");
        (line.match(/<\/?span[^>]*>/g) || []).forEach((tag) => tag[1] === "/" ? open.pop() : open.push(tag));
        const indent = line.replace(/<[^>]*>/g, "").search(/\S|$/) + 4;
        return `<span class="hung" style="padding-left:${indent}ch;text-indent:-${indent}ch">${before}${line}${"</span>".repeat(open.length)}\n</span>`;
      }).join("");
    });
  }
  window.addEventListener("beforeprint", hang);

  /* Sections called "Deeper" are folded, as in the lab; a link that leads into one opens it, as it opens any other fold. */
  function fold() {
    document.querySelectorAll(".bd-article section > :is(h2, h3, h4)").forEach((heading) => {
      if (!heading.textContent.startsWith("Deeper: ")) return;
      const summary = make("summary", {}), details = make("details", { class: "deeper" }, summary);
      heading.before(details);
      summary.append(heading);
      while (details.nextSibling) details.append(details.nextSibling);
    });
  }
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const own = target.closest("section")?.querySelector(":scope > details.deeper");  // the link may name the section or a mark above it
    for (let fold = own || target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  }

  /* The map ticks the chapters that were opened in this browser; it is told to nobody. */
  function visits() {
    const opened = new Set((localStorage.getItem("course-opened") || "").split(" "));
    const name = (address) => address.match(/chapters\/(\w+)\.html/)?.[1];
    if (name(location.pathname)) localStorage.setItem("course-opened", [...opened.add(name(location.pathname))].join(" ").trim());
    document.querySelectorAll(".course-map a").forEach((link) => link.classList.toggle("opened", opened.has(name(link.getAttribute("href")))));
  }

  const start = () => {
    visits();
    document.querySelectorAll("div.math").forEach((one) => one.scrollWidth > one.clientWidth && one.setAttribute("tabindex", "0"));  // arrow keys move it
    pictures();
    if (location.search === "?print") {  // pdf.py asks so: a browser without a window does not say that it prints
      hang();
    } else {
      fold();
      reveal();
      window.addEventListener("hashchange", reveal);
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
