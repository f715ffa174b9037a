// The cards of the routes: a click selects a route.

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

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".evroute-cards");
  root.classList.toggle("evroute-dim", data.dim);
  root.replaceChildren(...data.cards.map((card) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = card.recommended ? "evroute-recommended" : "";
    button.setAttribute("aria-pressed", String(card.selected));
    button.append(
      line("evroute-title", [card.title]),
      line("evroute-arrival", [strong(card.arrival), ` ${card.interval}`]),
      line("", [card.numbers]),
      line("evroute-reason", [card.reason]),
    );
    button.onclick = () => setTriggerValue("event", { id: Date.now(), kind: "route", name: card.name });
    return button;
  }));
}
