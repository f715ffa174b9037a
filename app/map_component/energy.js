// The energy of a route by cause: one bar, recovered left of its line and used right of it, and a
// list of the causes with their numbers.

function element(tag, className, parts) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...parts);
  return made;
}

function coloured(part, className) {
  const made = element("span", className, []);
  made.style.background = part.colour;
  return made;
}

function pieceOf(part) {
  const piece = coloured(part, "evroute-piece");
  piece.style.flexGrow = String(part.size);
  piece.title = `${part.label} ${part.text}`;
  return piece;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".evroute-energy");
  const recovered = data.parts.filter((part) => part.recovered).map(pieceOf);
  const used = data.parts.filter((part) => !part.recovered).map(pieceOf);
  const zero = recovered.length ? [element("span", "evroute-zero", [])] : [];
  const bar = element("div", "evroute-bar", [...recovered, ...zero, ...used]);
  bar.setAttribute("aria-hidden", "true");
  const rows = data.parts.map((part) => element("li", "", [
    coloured(part, "evroute-swatch"),
    element("span", "", [part.label]),
    element("b", "", [part.text]),
  ]));
  root.replaceChildren(bar, element("ul", "", rows));
}
