// The map of the dashboard: draws its data, and sends clicks, drags and menu choices to Python.
// Text from data becomes text nodes only; the code holds no templates.

const OTHER_ROUTE = "#5f7fb8";
const ROAD_WIDTHS = [3.2, 2, 1.2]; // of main, collecting and other roads
const KNOWN = "evroute-legend-known"; // of this browser: somebody has seen the legend
const MENU = [["start", "Start here"], ["stop", "Stop here"], ["end", "Go here"]];

function node(tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

function lineOf(routes) {
  return routes.find((route) => route.selected)?.line ?? [];
}

// The credit of OpenStreetMap, or of the first source. The page Advanced has all of them.
function creditOf(attribution) {
  const isMap = attribution.includes("OpenStreetMap contributors");
  return isMap ? "\u00a9 OpenStreetMap contributors" : attribution.split(";")[0];
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".evroute-map");
  root.evroute ??= loadLeaflet().then((L) => new DashboardMap(L, root));
  root.evroute.then((map) => map.draw(data, (event) => setTriggerValue("event", { id: Date.now(), ...event })));
}

class DashboardMap {
  constructor(L, root) {
    Object.assign(this, { L, root, viewed: null, roadsUrl: null, labels: [] });
    const canvas = root.appendChild(node("div", "evroute-canvas"));
    const own = { attributionControl: false, zoomControl: false, trackResize: false };
    this.map = L.map(canvas, { zoomSnap: 0.25, ...own });
    this.addButtons();
    this.map.createPane("roads").style.zIndex = 350;
    this.renderer = L.canvas({ pane: "roads", padding: 0.3 });
    this.roads = ROAD_WIDTHS.map((weight) => L.polyline([], {
      renderer: this.renderer, interactive: false, weight,
    })).reverse().map((line) => line.addTo(this.map)).reverse(); // main roads lie on top
    this.map.on("moveend", () => this.placeLabels()); // before the names, which leave labels free
    this.names = new StreetNames(L, this.map);
    this.drawn = L.layerGroup().addTo(this.map);
    this.way = new RouteWay(L, this.map);
    this.chargeWay = new ChargeWay(L, this.map, root);
    const tiles = L.tileLayer("https://tile.openstreetmap.org/{z}/{x}/{y}.png", { maxZoom: 19 });
    this.boxOfLayers = L.control.layers({}, { "Street map (internet)": tiles }).addTo(this.map);
    this.boxOfLayers.getContainer().querySelector("a").title = "Layers and legend";
    this.layers = new Map();
    this.legend = node("div", "evroute-legend");
    this.corner = this.box("bottomleft", "");
    this.source = this.box("bottomright", "evroute-source");
    L.control.scale({ position: "bottomright", imperial: false }).addTo(this.map);
    this.hint = root.appendChild(node("div", "evroute-hint"));
    this.hint.setAttribute("role", "status");
    this.menu = root.appendChild(node("div", "evroute-menu"));
    this.menu.setAttribute("role", "menu");
    this.closeMenu();
    this.map.on("click", ({ latlng, containerPoint }) => {
      if (!this.menu.hidden) this.closeMenu();
      else if (this.data.click === "send") this.send({ kind: "click", at: this.place(latlng) });
      else if (this.data.click === "menu") this.openMenu(containerPoint, MENU, latlng);
    });
    this.map.on("contextmenu", ({ latlng, containerPoint }) => {
      if (this.data.click) this.openMenu(containerPoint, MENU, latlng);
    });
    this.map.on("movestart", () => this.closeMenu());
    this.map.on("moveend", () => this.keepView());
    root.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.closeMenu();
      if (key === "0") this.fit(this.data.bounds);
    });
    new ResizeObserver(() => this.resize()).observe(root);
  }

  // Zoom and fit. The map itself takes the keys +, - and 0, so the Tab key passes the buttons.
  addButtons() {
    this.L.control.zoom({ position: "topright" }).addTo(this.map);
    const bar = this.box("topright", "leaflet-bar");
    const fit = bar.appendChild(node("a", "evroute-fit"));
    Object.assign(fit, { href: "#", role: "button", title: "Show the whole route (0)" });
    fit.setAttribute("aria-label", "Show the whole route");
    this.L.DomEvent.on(fit, "click", (event) => {
      this.L.DomEvent.stop(event);
      this.fit(this.data.bounds);
    });
    const canvas = this.map.getContainer();
    canvas.setAttribute("aria-label", "Map: arrows move it, + and - zoom, 0 shows the whole route");
    canvas.setAttribute("role", "application");
    for (const button of canvas.querySelectorAll(".leaflet-bar a")) button.tabIndex = -1;
  }

  box(position, className) {
    const element = node("div", className);
    const control = new this.L.Control({ position });
    control.onAdd = () => element;
    this.L.DomEvent.disableClickPropagation(element);
    control.addTo(this.map);
    return element;
  }

  resize() {
    if (this.waiting) this.draw(...this.waiting);
    else if (this.root.clientHeight) {
      const untouched = this.fitted === this.sight(); // nobody has moved the map since
      this.map.invalidateSize({ animate: false });
      if (untouched) this.fit(this.data.bounds);
      this.chargeWay.draw();
      this.placeLabels();
    }
  }

  // Centre and zoom as a text, empty without a view.
  sight() {
    if (!this.data || !this.map._loaded) return "";
    return JSON.stringify([this.map.getCenter(), this.map.getZoom()]);
  }

  place({ lat, lng }) {
    return [Number(lat.toFixed(6)), Number(this.map.wrapLatLng([lat, lng]).lng.toFixed(6))];
  }

  draw(data, send) {
    Object.assign(this, { data, send });
    this.root.style.setProperty("--evroute-map-height", data.height);
    // a map without a size has no view; `resize` draws as soon as it has one
    this.waiting = this.root.clientWidth && this.root.clientHeight ? null : [data, send];
    if (this.waiting) return;
    this.root.classList.toggle("evroute-dim", data.dim);
    this.chargeWay.show(data.way, lineOf(data.routes));
    this.map.invalidateSize({ animate: false });
    this.drawn.clearLayers();
    this.way.clear();
    this.labels = [];
    this.closeMenu();
    this.drawLegends(data.legends);
    this.source.textContent = creditOf(data.attribution);
    this.source.title = data.attribution;
    this.hint.textContent = data.hint;
    this.hint.hidden = !data.hint;
    this.view(data);
    this.drawRoads(data.roads);
    data.layers.forEach((layer) => this.drawLayer(layer));
    for (const { colour, weight, lines } of data.classes) {
      this.line(lines, { color: colour, weight });
    }
    const selected = data.routes.find((route) => route.selected);
    for (const route of data.routes) if (route !== selected) this.alternative(route);
    if (selected) this.selected(selected);
    data.spots.forEach((spot) => this.spot(spot));
    data.pins.forEach((pin) => this.pin(pin));
    this.placeLabels();
    this.drawNames(data.names);
    this.root.dataset.selected = selected?.name ?? "";
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  view({ view, bounds, pins, layers, routes }) {
    const kept = this.viewed === view || this.keptView(view);
    this.viewed = null; // the moves of this method are not kept
    const places = JSON.stringify(pins.map(({ at }) => at));
    const wide = layers.filter((layer) => layer.wide).map(({ name }) => name).join();
    const isOutside = (at) => !this.map.getBounds().contains(at);
    const line = lineOf(routes);
    // only a map with a view has bounds
    const moved = () => {
      const panels = panelsOf(this.root);
      const isHidden = (at) => isOutside(at) || isWithin(this.map.latLngToContainerPoint(at), panels);
      return places !== this.places && [...pins.map(({ at }) => at), ...line].some(isHidden);
    };
    const grown = () => wide && this.wide !== undefined && wide !== this.wide && bounds.some(isOutside);
    if (!kept || moved() || grown()) this.fit(bounds);
    this.wide = wide;
    this.places = places; // drawn again, the same pins move nothing: the user may have zoomed in
    this.viewed = view;
  }

  // Whether it is as narrow as a phone. There the source lies below the legend.
  isNarrow() {
    return this.root.clientWidth < 600;
  }

  // Shows bounds between the panels: above the legend or beside it, whichever is larger.
  fit(bounds) {
    const { x, y } = this.map.getSize();
    const above = 50 + this.hint.offsetHeight;
    const rooms = !this.corner.contains(this.legend) || this.legend.hidden ? [[30, above, 65, 35]] : [
      [30, above, 65, this.legend.offsetHeight + (this.isNarrow() ? 50 : 25)],
      [30 + this.legend.offsetWidth, above, 65, 35],
    ];
    const fits = rooms.map(([left, top, right, bottom]) => {
      const [[west, east], [north, south]] = [roomy(x, left, right), roomy(y, top, bottom)];
      return { paddingTopLeft: [west, north], paddingBottomRight: [east, south] };
    });
    const zoomOf = ({ paddingTopLeft, paddingBottomRight }) => this.map.getBoundsZoom(
      bounds, false, this.L.point(paddingTopLeft).add(paddingBottomRight),
    );
    const best = fits.reduce((a, b) => (zoomOf(b) > zoomOf(a) ? b : a));
    // two pins at one place have no extent
    this.map.fitBounds(bounds, { ...best, maxZoom: 18, animate: false });
    this.fitted = this.sight();
  }

  keptView(name) {
    try {
      const [lat, lng, zoom, places] = JSON.parse(sessionStorage.getItem(`evroute-${name}`));
      this.map.setView([lat, lng], zoom, { animate: false });
      this.places = places;
      return true;
    } catch {
      return false; // nothing is kept yet, or the browser keeps nothing
    }
  }

  keepView() {
    if (!this.viewed) return;
    const { lat, lng } = this.map.getCenter();
    try {
      const view = JSON.stringify([lat, lng, this.map.getZoom(), this.places]);
      sessionStorage.setItem(`evroute-${this.viewed}`, view);
    } catch { /* the browser keeps nothing */ }
  }

  async drawRoads(url) {
    const tones = getComputedStyle(this.map.getContainer());
    [tones.borderTopColor, tones.borderRightColor, tones.borderBottomColor].forEach((color, rank) => {
      this.roads[rank].setStyle({ color });
    });
    if (url === this.roadsUrl) return;
    this.roadsUrl = url;
    const roads = await fetched(url);
    if (!roads || url !== this.roadsUrl) return;
    roads.forEach((lines, rank) => this.roads[rank].setLatLngs(lines));
    this.root.dataset.roads = url;
  }

  async drawNames(url) {
    if (url === this.namesUrl) return this.names.draw();
    this.namesUrl = url;
    const names = await fetched(url);
    if (names && url === this.namesUrl) this.names.show(names);
  }

  // A group of lines and points that the box of layers shows and hides.
  layerGroup(name, label) {
    const group = this.L.layerGroup().on("add remove", ({ type }) => {
      const layer = this.data.layers.find((each) => each.name === name); // until the answer comes
      if (layer.shown === (type === "add")) return;
      layer.shown = !layer.shown;
      this.send({ kind: "layer", name });
    });
    this.layers.set(name, group);
    this.boxOfLayers.addOverlay(group, label);
    return group;
  }

  async drawLayer({ name, label, shown, url }) {
    const group = this.layers.get(name) ?? this.layerGroup(name, label);
    if (shown) group.addTo(this.map);
    else group.remove();
    if (!url) group.clearLayers();
    if (url === group.url) return;
    group.url = url;
    const answer = url && await fetch(url);
    if (!answer?.ok || url !== group.url) return;
    const { classes, points } = await answer.json();
    group.clearLayers();
    for (const { colour, weight, lines } of classes) {
      const style = { color: colour, weight, renderer: this.renderer };
      this.L.polyline(lines, { interactive: false, ...style }).addTo(group);
    }
    for (const { at, text } of points) {
      const style = { radius: 5, weight: 2, color: "#222222", fillColor: "#ffffff", fillOpacity: 1 };
      this.tip(this.L.circleMarker(at, style).addTo(group), text);
    }
    this.root.dataset[name] = url;
  }

  line(lines, style) {
    const solid = { interactive: false, lineCap: "round", lineJoin: "round", ...style };
    return this.L.polyline(lines, solid).addTo(this.drawn);
  }

  tip(layer, text) {
    return text ? layer.bindTooltip(node("span", "", text), { sticky: true }) : layer;
  }

  alternative({ name, label, text, line, colour = OTHER_ROUTE, weight = 4, dashes = "" }) {
    const choose = () => this.send({ kind: "route", name });
    const style = { color: colour, weight, dashArray: dashes, interactive: true, className: "evroute-route" };
    this.tip(this.line(line, style), text).on("click", (event) => {
      this.L.DomEvent.stop(event);
      choose();
    });
    if (!label) return;
    const others = this.data.routes.filter((route) => route.name !== name);
    this.label(ownPart(line, others), label, text, choose);
  }

  // A label that `placeLabels` moves along a line.
  label(part, text, title, onClick) {
    const html = node("span", "evroute-label", text);
    const icon = this.L.divIcon({ html, className: "", iconSize: [0, 0] });
    const marker = this.L.marker(part[0], { icon, title, pane: "tooltipPane" });
    marker.on("click", onClick).addTo(this.drawn);
    this.labels.push({ html, marker, part });
  }

  // Moves each label along its route to where it covers no pin and no other label, the middle
  // first; a label without such a place in view is hidden.
  placeLabels() {
    if (!this.data) return;
    const size = this.map.getSize();
    const point = (at) => this.map.latLngToContainerPoint(at);
    const taken = [...this.data.pins.map(({ at }) => pinBox(point(at))), ...panelsOf(this.root)];
    for (const { html, marker, part } of this.labels) {
      html.hidden = false;
      const [halfX, halfY] = [html.offsetWidth / 2 + 2, html.offsetHeight / 2 + 2];
      const box = ({ x, y }) => [x - halfX, y - halfY, x + halfX, y + halfY];
      const isFree = ([left, top, right, bottom]) => left > 0 && top > 0 && right < size.x
        && bottom < size.y && !taken.some(([l, t, r, b]) => left < r && l < right && top < b && t < bottom);
      const place = fromTheMiddle(part).find((at) => isFree(box(point(at))));
      html.hidden = !place;
      if (!place) continue;
      marker.setLatLng(place);
      taken.push(box(point(place)));
    }
    this.names.taken = taken;
  }

  spot({ at, text, label, colour }) {
    this.tip(this.L.circleMarker(at, {
      radius: 6, weight: 3, color: "#222222", fillColor: colour, fillOpacity: 1,
    }).addTo(this.drawn), text);
    if (label) this.label([at, at], label, text, () => {});
  }

  selected({ line, stretches }) {
    this.way.follow(line);
    this.way.beside(this.line(line, { color: "#ffffff", weight: 10, className: "evroute-casing" }));
    for (const { colour, line: piece, text } of stretches) {
      const style = { color: colour, weight: 6, interactive: true, className: "evroute-selected" };
      this.tip(this.way.beside(this.line(piece, style)), text);
    }
    this.way.drawArrows();
  }

  pin({ row, label, text, at, stop }) {
    const html = node("span", "evroute-pin");
    html.append(node("b", "", label));
    const size = { iconSize: [26, 26], iconAnchor: [13, 31] };
    const icon = this.L.divIcon({ html, className: "", ...size });
    const draggable = Boolean(this.data.click);
    // only stops have a menu, so only they take the keyboard
    const marker = this.L.marker(at, { icon, draggable, autoPan: true, title: text, keyboard: stop });
    marker.on("dragend", () => {
      this.send({ kind: "move", row, at: this.place(marker.getLatLng()) });
    });
    if (draggable && stop) {
      const open = (event) => {
        this.L.DomEvent.stop(event);
        const point = this.map.latLngToContainerPoint(at);
        this.openMenu(point, [["remove", "Remove this stop"]], null, row);
      };
      marker.on("contextmenu", open).on("click", open);
    }
    marker.addTo(this.drawn);
  }

  openMenu({ x, y }, choices, latlng, row = null) {
    const at = latlng && this.place(latlng);
    this.menu.replaceChildren(...choices.map(([kind, text]) => {
      const button = node("button", "", text);
      button.type = "button";
      button.setAttribute("role", "menuitem");
      button.onclick = () => {
        this.closeMenu();
        this.send({ kind, at, row });
      };
      return button;
    }));
    this.menu.hidden = false;
    const { x: width, y: height } = this.map.getSize();
    this.menu.style.left = `${Math.min(x, width - this.menu.offsetWidth - 8)}px`;
    this.menu.style.top = `${Math.min(y, height - this.menu.offsetHeight - 8)}px`;
    this.menu.firstChild.focus({ preventScroll: true });
  }

  closeMenu() {
    this.menu.hidden = true;
  }

  // Whether an earlier visit of this browser has shown the legend of the routes.
  knowsLegend() {
    try {
      if (!sessionStorage.getItem(KNOWN)) {
        sessionStorage.setItem(KNOWN, localStorage.getItem(KNOWN) ?? "new");
        localStorage.setItem(KNOWN, "known");
      }
      return sessionStorage.getItem(KNOWN) === "known";
    } catch {
      return false; // the browser keeps nothing
    }
  }

  // In the corner on a first visit, and where a layer has a legend of its own. Else in the box of
  // layers, and always there on a phone, where it would cover the pins.
  drawLegends(legends) {
    const rows = node("div", "evroute-entries");
    rows.append(...legends.flatMap(({ title, entries }) => [
      ...(title ? [node("b", "", title)] : []), ...entries.map(([colour, label, kind]) => {
        const entry = node("span", "", label);
        const swatch = node("i", `evroute-${kind}`);
        swatch.style.background = colour;
        entry.prepend(swatch);
        return entry;
      }),
    ]));
    this.legend.replaceChildren(rows);
    const titled = legends.filter(({ title }) => title).length;
    const folds = this.isNarrow() || (this.knowsLegend() && titled === 1);
    const box = this.boxOfLayers.getContainer().querySelector(".leaflet-control-layers-list");
    (folds ? box : this.corner).append(this.legend);
    this.legend.hidden = !legends.length;
  }
}
