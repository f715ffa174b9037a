// The way of the selected route: arrows in its direction, and both ways of a road beside each other.

const BESIDE = 4; // distance from the road where the route also drives it the other way, pixels
const ARROW_EVERY = 120; // pixels
const LEAST_SEGMENT = 12; // length of a segment that bears an arrow, pixels

class RouteWay {
  constructor(L, map) {
    Object.assign(this, { L, map, line: [], driven: new Set(), moved: [] });
    this.arrows = L.layerGroup().addTo(map);
    map.createPane("arrows").style.zIndex = 420;
    map.getPane("arrows").style.pointerEvents = "none";
    map.on("zoomend", () => this.moved.forEach((each) => this.place(each)));
    map.on("moveend", () => this.drawArrows());
  }

  clear() {
    Object.assign(this, { line: [], driven: new Set(), moved: [] });
    this.arrows.clearLayers();
  }

  follow(line) {
    this.line = line;
    this.driven = new Set(line.slice(1).map((to, k) => `${line[k]} ${to}`));
  }

  // Moves a polyline to the right where the route also drives the other way; returns it.
  beside(polyline) {
    const line = polyline.getLatLngs().map(({ lat, lng }) => [lat, lng]);
    const twice = line.slice(1).map((to, k) => this.driven.has(`${to} ${line[k]}`));
    if (twice.some(Boolean)) {
      const moved = { polyline, line, twice };
      this.moved.push(moved);
      this.place(moved);
    }
    return polyline;
  }

  place({ polyline, line, twice }) {
    polyline.setLatLngs(this.shifted(line, twice));
  }

  shifted(line, twice) {
    const points = line.map((at) => this.map.latLngToLayerPoint(at));
    const right = points.slice(1).map((to, k) => {
      const [x, y] = [to.x - points[k].x, to.y - points[k].y];
      const length = Math.hypot(x, y);
      return twice[k] && length ? [-y / length, x / length] : null;
    });
    return points.map((point, k) => {
      const sides = [right[k - 1], right[k]].filter(Boolean);
      if (!sides.length) return line[k];
      const [x, y] = [0, 1].map((axis) => sides.reduce((sum, each) => sum + each[axis], 0));
      const length = Math.max(Math.hypot(x, y), 0.5);
      return this.map.layerPointToLatLng([point.x + (BESIDE * x) / length, point.y + (BESIDE * y) / length]);
    });
  }

  // Arrows in the direction of the route, on straight parts in view.
  drawArrows() {
    this.arrows.clearLayers();
    const twice = this.line.slice(1).map((to, k) => this.driven.has(`${to} ${this.line[k]}`));
    const line = this.shifted(this.line, twice);
    const view = this.map.getBounds();
    let left = ARROW_EVERY / 2;
    for (let k = 1; k < line.length; k += 1) {
      const [a, b] = [line[k - 1], line[k]].map((at) => this.map.latLngToLayerPoint(at));
      const length = a.distanceTo(b);
      left -= length;
      if (left > 0 || length < LEAST_SEGMENT) continue;
      const middle = this.map.layerPointToLatLng(a.add(b).divideBy(2));
      if (view.contains(middle)) this.arrow(middle, Math.atan2(b.y - a.y, b.x - a.x));
      left = ARROW_EVERY;
    }
  }

  arrow(at, angle) {
    const html = document.createElement("span");
    html.className = "evroute-arrow";
    html.style.rotate = `${angle}rad`;
    const icon = this.L.divIcon({ html, className: "", iconSize: [0, 0] });
    const marker = this.L.marker(at, { icon, pane: "arrows", interactive: false, keyboard: false });
    marker.addTo(this.arrows);
  }
}
