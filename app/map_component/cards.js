// The routes of a plan: the selected one with its verdict in a large line, the others small. A click
// selects a route.

function line(className, parts) {
  const element = document.createElement("span");
  element.className = className;
  element.append(...parts);
  return element;
}

// The clock of this computer after some seconds, as HH:MM.
function clockAfter(seconds) {
  const at = new Date(Date.now() + 1000 * seconds);
  return [at.getHours(), at.getMinutes()].map((each) => String(each).padStart(2, "0")).join(":");
}

function numbersOf({ leaves_now_s, numbers }) {
  const clock = leaves_now_s === null ? [] : [`at ${clockAfter(leaves_now_s)}`];
  return [...clock, ...numbers].map((each) => line("", [each]));
}

function cardOf(card, send) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `${card.recommended ? "evroute-recommended" : ""} evroute-${card.level}`;
  button.setAttribute("aria-pressed", String(card.selected));
  button.append(
    line("evroute-title", [card.title]),
    line("evroute-verdict", [card.verdict]),
    line("evroute-arrival", [card.arrival]),
    line("evroute-numbers", numbersOf(card)),
    line("evroute-reason", [card.reason]),
  );
  button.onclick = () => send(card.name);
  return button;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".evroute-cards");
  const send = (name) => setTriggerValue("event", { id: Date.now(), kind: "route", name });
  root.classList.toggle("evroute-dim", data.dim);
  root.classList.toggle("evroute-list", data.list);
  root.replaceChildren(
    ...data.cards.map((card) => cardOf(card, send)),
    ...data.lines.map((text) => line("evroute-line", [text])),
  );
}
