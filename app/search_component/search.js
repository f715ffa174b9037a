// An editable combobox with a list of suggestions: arrows, Enter, Escape, pointer, screen reader.
// Text from data becomes text nodes only; the code holds no templates.

const PAUSE_MS = 60; // a fast typist does not ask for every letter
const LEAST_WIDTH = 340; // of the list, pixels: a box on a phone is narrower than a name
const MARGIN = 8;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".evroute-search");
  root.evroute ??= new Search(root);
  root.evroute.draw(data, (choice) => setTriggerValue("choice", { id: Date.now(), ...choice }));
}

function made(tag, properties, attributes = {}) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

class Search {
  constructor(root) {
    const id = `evroute-search-${Math.random().toString(36).slice(2)}`;
    Object.assign(this, { root, id, shown: null, found: [], active: -1, asked: 0, entered: false });
    this.label = made("label", { htmlFor: id });
    this.input = made("input", { id, type: "text", autocomplete: "off", spellcheck: false }, {
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
      "aria-controls": `${id}-list`, autocapitalize: "off",
    });
    this.list = made("ul", { id: `${id}-list` }, { role: "listbox", popover: "manual" });
    this.status = made("div", { className: "evroute-status" }, { role: "status" });
    root.append(this.label, this.input, this.list, this.status);
    this.input.addEventListener("input", () => this.ask(PAUSE_MS));
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("click", () => this.isOpen() || this.ask(0));
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.input.addEventListener("blur", () => this.leave());
    // the pointer must not take the focus from the box before it chooses
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", ({ target }) => {
      const option = target.closest("[role=option]");
      if (option) this.choose(this.found[Number(option.dataset.row)]);
    });
    for (const name of ["scroll", "resize"]) window.addEventListener(name, () => this.place(), true);
  }

  draw(data, send) {
    Object.assign(this, { data, send });
    this.label.textContent = data.label;
    this.list.setAttribute("aria-label", data.label);
    this.input.placeholder = data.placeholder;
    const writing = document.activeElement === this.input && this.input.value !== this.shown;
    if (data.shown !== this.shown && !writing) this.input.value = data.shown;
    this.shown = data.shown;
    this.root.dataset.drawn = data.shown;
  }

  // Ask for suggestions; an answer that comes after a later question is dropped.
  ask(pause) {
    const number = ++this.asked;
    const text = this.input.value === this.shown ? "" : this.input.value.trim();
    this.entered = false;
    this.stop?.abort();
    clearTimeout(this.timer);
    if (!text && !this.data.recent.length) {
      this.wait(false);
      return this.show([], "");
    }
    this.wait(true);
    this.timer = setTimeout(async () => {
      this.stop = new AbortController();
      let found = null;
      try {
        const query = new URLSearchParams({ text });
        for (const each of this.data.recent) query.append("recent", JSON.stringify(each));
        const answer = await fetch(`${this.data.address}&${query}`, { signal: this.stop.signal });
        if (answer.ok) found = await answer.json();
      } catch { /* an answer that is not wanted any more, or no server */ }
      if (number !== this.asked) return;
      this.wait(false);
      if (found) this.show(found, text);
      else this.show([], text, "Suggestions cannot be reached. Enter searches.");
      if (this.entered) this.enter();
    }, pause);
  }

  // Whether the list still belongs to an earlier text.
  wait(waiting) {
    this.waiting = waiting;
    this.list.setAttribute("aria-busy", String(waiting));
  }

  show(found, text, trouble = "") {
    Object.assign(this, { found, active: -1 });
    this.list.replaceChildren(...found.map(({ label, kind }, row) => {
      const option = made("li", { id: `${this.id}-${row}` }, { role: "option", "aria-selected": "false" });
      option.dataset.row = row;
      option.append(made("span", { textContent: label }), made("small", { textContent: kind }));
      return option;
    }));
    const count = found.length === 1 ? "1 suggestion" : `${found.length} suggestions`;
    const none = text ? "No name fits this text." : "";
    this.status.textContent = trouble || (found.length ? count : none);
    this.status.classList.toggle("evroute-seen", !found.length && Boolean(text));
    this.open(found.length > 0 && document.activeElement === this.input);
    this.input.removeAttribute("aria-activedescendant");
  }

  isOpen() {
    return this.input.getAttribute("aria-expanded") === "true";
  }

  open(opens) {
    if (opens !== this.isOpen()) this.list.togglePopover(opens);
    this.input.setAttribute("aria-expanded", String(opens));
    if (opens) this.place();
  }

  place() {
    if (!this.isOpen()) return;
    const box = this.input.getBoundingClientRect();
    const below = window.innerHeight - box.bottom - 8;
    const width = Math.max(box.width, Math.min(LEAST_WIDTH, window.innerWidth - 2 * MARGIN));
    const left = Math.max(Math.min(box.left, window.innerWidth - width - MARGIN), 0);
    Object.assign(this.list.style, {
      left: `${left}px`, top: `${box.bottom + 2}px`, width: `${width}px`,
      maxHeight: `${Math.max(below, 120)}px`,
    });
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !event.altKey) {
      event.preventDefault();
      if (this.isOpen()) this.move(step);
      else this.ask(0);
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      if (this.waiting) this.entered = true;
      else this.enter();
    } else if (event.key === "Escape") {
      if (!this.isOpen()) this.input.value = this.shown;
      this.close();
    } else if (event.key === "Tab" && this.isOpen() && this.active >= 0) {
      this.choose(this.found[this.active]);
    }
  }

  move(step) {
    const last = this.found.length - 1;
    const next = this.active + step;
    if (this.active < 0 && step < 0) this.active = last;
    else this.active = next > last ? 0 : next < 0 ? last : next;
    [...this.list.children].forEach((option, row) => {
      option.setAttribute("aria-selected", String(row === this.active));
    });
    const option = this.list.children[this.active];
    this.input.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  // The marked suggestion, else the best one, else the text as it is written.
  enter() {
    const text = this.input.value.trim();
    if (this.active >= 0) this.choose(this.found[this.active]);
    else if (text && text === this.shown) this.close();
    else if (text && this.found.length) this.choose(this.found[0]);
    else this.sent(text, text, false);
  }

  choose({ label, text }) {
    this.sent(label, text, true);
  }

  sent(label, text, chosen) {
    this.input.value = label;
    this.shown = label;
    this.close();
    this.send({ text, chosen });
  }

  close() {
    this.asked += 1;
    this.wait(false);
    this.entered = false;
    this.stop?.abort();
    clearTimeout(this.timer);
    this.found = [];
    this.active = -1;
    this.open(false);
    this.input.removeAttribute("aria-activedescendant");
    this.status.textContent = "";
    this.status.classList.remove("evroute-seen");
  }

  leave() {
    this.close();
    this.input.value = this.shown;
  }
}
