// The cards of the routes: a click selects a route. A refused card cannot be chosen.

function line(className, parts) {
  const element = document.createElement("span");
  element.className = className;
  element.append(...parts);
  return element;
}

function strong(text) {
  const element = document.createElement("strong");
  element.textContent = text;
  return element;
}

// The clock of this computer after some seconds, as HH:MM.
function clockAfter(seconds) {
  const at = new Date(Date.now() + 1000 * seconds);
  return [at.getHours(), at.getMinutes()].map((each) => String(each).padStart(2, "0")).join(":");
}

function numbersOf(card) {
  return card.leaves_now_s === null ? card.numbers : `${clockAfter(card.leaves_now_s)} \u00b7 ${card.numbers}`;
}

function cardOf(card, send) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = card.recommended ? "evroute-recommended" : "";
  button.disabled = Boolean(card.refused);
  if (!card.refused) button.setAttribute("aria-pressed", String(card.selected));
  button.append(
    line("evroute-title", [card.title]),
    line("evroute-arrival", [strong(card.arrival), ` ${card.interval}`]),
    line("", [numbersOf(card)]),
    line("evroute-reason", [card.reason]),
  );
  button.onclick = () => send(card.name);
  return button;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".evroute-cards");
  const send = (name) => setTriggerValue("event", { id: Date.now(), kind: "route", name });
  root.classList.toggle("evroute-dim", data.dim);
  root.replaceChildren(
    ...(data.above ? [line("evroute-above", [data.above])] : []),
    ...data.cards.map((card) => cardOf(card, send)),
  );
}
