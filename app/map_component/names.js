// Names of the map as text on a canvas: of main roads first, then of other roads and of places.
// Names that would overlap, or that the frame, a panel, a pin or a label would cut, are dropped.

const LEAST_ZOOMS = [0, 13.5, 15]; // of names of main, collecting and other roads
const PLACE_ZOOM = 15;
const PLACE_SQUARE = 180; // pixels: at most one name of a place in each
const FONT = "12px sans-serif";
const OWN_SHARE = 0.6; // of a name lies on its road at least, the rest on the next ones
const FAR_SHARE = 0.2; // below `FAR_ZOOM`
const FAR_ZOOM = 15;
const REPEATED = 300; // least distance of two equal names, pixels
const PADDING = 8;

class StreetNames {
  constructor(L, map) {
    Object.assign(this, { L, map, names: { streets: [], places: [] }, taken: [] });
    this.canvas = document.createElement("canvas");
    this.canvas.className = "evroute-names";
    this.canvas.setAttribute("aria-hidden", "true");
    map.createPane("names").style.zIndex = 450;
    map.getPane("names").style.pointerEvents = "none";
    map.getPane("names").append(this.canvas);
    map.on("zoomstart", () => { this.canvas.hidden = true; });
    map.on("moveend resize", () => this.draw());
  }

  show(names) {
    // streets: [text, latitude and longitude of both ends of a road, rank]; places: [text, latitude, longitude]
    this.names = names;
    this.draw();
  }

  draw() {
    const { map, canvas } = this;
    const size = map.getSize();
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: size.x * ratio, height: size.y * ratio, hidden: false });
    Object.assign(canvas.style, { width: `${size.x}px`, height: `${size.y}px` });
    this.L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    Object.assign(context, { font: FONT, textAlign: "center", textBaseline: "middle",
      lineJoin: "round", lineWidth: 3, fillStyle: style.color, strokeStyle: style.borderTopColor });
    const taken = [];
    const zoom = map.getZoom();
    let count = 0;
    for (const [text, lat, lng, lat2, lng2, rank] of this.names.streets) {
      if (zoom < LEAST_ZOOMS[rank]) break; // the names of other ranks come later
      count += this.write(context, text, [lat, lng, lat2, lng2], size, taken);
    }
    const squares = new Set();
    for (const place of zoom < PLACE_ZOOM ? [] : this.names.places) {
      count += this.writePlace(context, place, size, taken, squares);
    }
    canvas.dataset.count = String(count);
  }

  // Writes a name if there is room for it; returns whether it did.
  write(context, text, [lat, lng, lat2, lng2], size, taken) {
    const a = this.map.latLngToContainerPoint([lat, lng]);
    const b = this.map.latLngToContainerPoint([lat2, lng2]);
    const middle = a.add(b).divideBy(2);
    if (!size.contains(middle) || middle.x < 0 || middle.y < 0) return false;
    const half = context.measureText(text).width / 2;
    const share = this.map.getZoom() < FAR_ZOOM ? FAR_SHARE : OWN_SHARE;
    if (a.distanceTo(b) < share * 2 * half) return false;
    let angle = Math.atan2(b.y - a.y, b.x - a.x);
    if (Math.abs(angle) > Math.PI / 2) angle += Math.PI; // never upside down
    const discs = [];
    for (let at = -half; at <= half; at += PADDING) {
      discs.push([middle.x + at * Math.cos(angle), middle.y + at * Math.sin(angle)]);
    }
    if (discs.some(([x, y]) => x < 4 || y < 4 || x > size.x - 4 || y > size.y - 4)) return false;
    const again = ([x, y, name]) => name === text && middle.distanceTo({ x, y }) < REPEATED;
    if (taken.some(again)) return false;
    const near = ([x, y]) => taken.some(([x2, y2]) => Math.hypot(x - x2, y - y2) < 2 * PADDING);
    if (discs.some(near) || this.isTaken(discs)) return false;
    taken.push([middle.x, middle.y, text], ...discs);
    context.save();
    context.translate(middle.x, middle.y);
    context.rotate(angle);
    context.strokeText(text, 0, 0);
    context.fillText(text, 0, 0);
    context.restore();
    return true;
  }

  // Whether discs of a name lie on a panel, a pin or a label.
  isTaken(discs) {
    return discs.some(([x, y]) => isWithin({ x, y }, this.taken, PADDING));
  }

  // Writes the name of a place beside its point if there is room for it; returns whether it did.
  writePlace(context, [text, lat, lng], size, taken, squares) {
    const { x, y } = this.map.latLngToContainerPoint([lat, lng]);
    const width = context.measureText(text).width;
    if (x < 6 || y < 10 || x + width + 10 > size.x || y > size.y - 10) return false;
    const square = `${Math.floor(x / PLACE_SQUARE)} ${Math.floor(y / PLACE_SQUARE)}`;
    if (squares.has(square)) return false;
    const discs = [];
    for (let at = 0; at <= width + 6; at += PADDING) discs.push([x + at, y]);
    const near = ([a, b]) => taken.some(([c, d]) => Math.hypot(a - c, b - d) < 2 * PADDING);
    if (discs.some(near) || this.isTaken(discs)) return false;
    squares.add(square);
    taken.push(...discs);
    context.save();
    context.textAlign = "left";
    context.beginPath();
    context.arc(x, y, 2.5, 0, 2 * Math.PI);
    context.fill();
    context.strokeText(text, x + 6, y);
    context.fillText(text, x + 6, y);
    context.restore();
    return true;
  }
}
