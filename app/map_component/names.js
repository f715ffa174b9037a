// Street names of the map, as text on a canvas along the roads; names that would overlap are dropped.

const LEAST_ZOOM = 15;
const FONT = "12px sans-serif";
const OWN_SHARE = 0.6; // of a name lies on its road at least, the rest on the next ones
const REPEATED = 300; // least distance of two equal names, pixels
const PADDING = 8;

class StreetNames {
  constructor(L, map) {
    Object.assign(this, { L, map, names: [] });
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
    this.names = names; // [text, latitude and longitude of both ends of a road], longest first
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
    const shown = map.getZoom() < LEAST_ZOOM ? [] : this.names;
    let count = 0;
    for (const [text, ...ends] of shown) count += this.write(context, text, ends, size, taken);
    canvas.dataset.count = String(count);
  }

  // Writes a name if there is room for it; returns whether it did.
  write(context, text, [lat, lng, lat2, lng2], size, taken) {
    const a = this.map.latLngToContainerPoint([lat, lng]);
    const b = this.map.latLngToContainerPoint([lat2, lng2]);
    const middle = a.add(b).divideBy(2);
    if (!size.contains(middle) || middle.x < 0 || middle.y < 0) return false;
    const half = context.measureText(text).width / 2;
    if (a.distanceTo(b) < OWN_SHARE * 2 * half) return false;
    let angle = Math.atan2(b.y - a.y, b.x - a.x);
    if (Math.abs(angle) > Math.PI / 2) angle += Math.PI; // never upside down
    const discs = [];
    for (let at = -half; at <= half; at += PADDING) {
      discs.push([middle.x + at * Math.cos(angle), middle.y + at * Math.sin(angle)]);
    }
    const again = ([x, y, name]) => name === text && middle.distanceTo({ x, y }) < REPEATED;
    if (taken.some(again)) return false;
    const near = ([x, y]) => taken.some(([x2, y2]) => Math.hypot(x - x2, y - y2) < 2 * PADDING);
    if (discs.some(near)) return false;
    taken.push([middle.x, middle.y, text], ...discs);
    context.save();
    context.translate(middle.x, middle.y);
    context.rotate(angle);
    context.strokeText(text, 0, 0);
    context.fillText(text, 0, 0);
    context.restore();
    return true;
  }
}
