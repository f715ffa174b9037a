// Files that both the map and the page before it ask for, each fetched once.

const LEAFLET = "/app/static/leaflet/";
const MOST_FILES = 8; // that are kept

function loadLeaflet() {
  window.evrouteLeaflet ??= Promise.all([
    loaded("link", { rel: "stylesheet", href: `${LEAFLET}leaflet.css` }),
    loaded("script", { src: `${LEAFLET}leaflet.js` }),
  ]).then(() => window.L);
  return window.evrouteLeaflet;
}

function loaded(tag, properties) {
  const element = Object.assign(document.createElement(tag), properties);
  return new Promise((resolve, reject) => {
    element.onload = resolve;
    element.onerror = reject;
    document.head.append(element);
  });
}

// The contents of a file of JSON, or null if it cannot be had.
function fetched(url) {
  const files = window.evrouteFiles ??= new Map();
  if (!files.has(url)) {
    files.set(url, fetch(url).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null));
    if (files.size > MOST_FILES) files.delete(files.keys().next().value);
    files.get(url).then((found) => found ?? files.delete(url)); // to be asked for again
  }
  return files.get(url);
}
