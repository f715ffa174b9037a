// The way of the charge under the map: height, charge and its band, stops as ramps.
// Pointer, touch and arrow keys move one mark on the picture and on the map, without a rerun.

const SVG = "http://www.w3.org/2000/svg";
const SIDE = 34; // room for numbers beside the picture, pixels
const TOP = 20;
const BOTTOM = 16;
const LINE = 12; // between two numbers, pixels
const STEPS = 100; // of the arrow keys along the route
const KM_ANCHORS = { 0: "start", 0.5: "middle", 1: "end" }; // the corners belong to other numbers

function drawing(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

// The value at a place of rows [km, values ...], between two rows in proportion.
function between(rows, km, column) {
  const k = Math.min(Math.max(rows.findIndex((row) => row[0] >= km), 1), rows.length - 1);
  const [before, after] = [rows[k - 1], rows[k]];
  const share = (km - before[0]) / (after[0] - before[0] || 1);
  return before[column] + Math.min(Math.max(share, 0), 1) * (after[column] - before[column]);
}

class ChargeWay {
  constructor(L, map, root) {
    Object.assign(this, { L, map, root, data: null, share: 0 });
    this.box = root.appendChild(document.createElement("div"));
    this.box.className = "evroute-way";
    this.box.hidden = true;
    this.svg = this.box.appendChild(drawing("svg", {
      tabindex: "0", role: "slider", "aria-label": "Charge along the route",
      "aria-valuemin": "0", "aria-valuemax": String(STEPS),
    }));
    this.mark = L.circleMarker([0, 0], {
      radius: 7, weight: 3, color: "#222222", fillColor: "#ffffff", fillOpacity: 1, interactive: false,
    });
    for (const name of ["pointerdown", "pointermove"]) {
      this.svg.addEventListener(name, ({ offsetX }) => this.moveTo((offsetX - SIDE) / this.width()));
    }
    this.svg.addEventListener("keydown", (event) => this.press(event));
    this.svg.addEventListener("pointerleave", () => this.hideMark());
    this.svg.addEventListener("blur", () => this.hideMark());
  }

  width() {
    return Math.max(this.svg.clientWidth - 2 * SIDE, 1);
  }

  press(event) {
    const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    const goals = { Home: 0, End: STEPS };
    const step = Math.round(this.share * STEPS);
    const goal = goals[event.key] ?? step + moves[event.key];
    if (Number.isNaN(goal)) return;
    event.preventDefault();
    this.moveTo(goal / STEPS);
  }

  show(data, line) {
    Object.assign(this, { data, route: line });
    this.box.hidden = !data;
    this.root.classList.toggle("evroute-with-way", Boolean(data));
    this.mark.remove();
    if (data) this.draw();
  }

  // A place of the axis; only the last has the unit.
  kmAt(part) {
    const km = part && (part * this.length).toFixed(this.length < 1 ? 2 : 1);
    return part === 1 ? `${km} km` : String(km);
  }

  draw() {
    if (!this.data || !this.svg.clientWidth) return;
    const { charge, height, reserve } = this.data;
    const [w, h] = [this.svg.clientWidth, this.svg.clientHeight];
    this.length = charge.at(-1)[0];
    const x = (km) => SIDE + (km / (this.length || 1)) * this.width();
    const scale = (values, low, high) => {
      const [least, most] = [Math.min(...values), Math.max(...values)];
      return (value) => high + (low - high) * (1 - (value - least) / (most - least || 1));
    };
    const charges = charge.flatMap((row) => row.slice(1));
    const near = Math.min(...charges) < reserve + 10 ? [reserve] : [];
    const y = scale([...charges, ...near], h - BOTTOM, TOP);
    const heights = height.map((row) => row[1]);
    const [high, low] = [Math.max(...heights), Math.min(...heights)];
    const ground = scale([...heights, low + 20], h - BOTTOM, TOP);
    const ends = ground(low) - ground(high) < LINE ? [high] : [high, low];
    Object.assign(this, { x, y });
    const path = (points) => points.map(([a, b], k) => `${k ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
    const hill = [[SIDE, h - BOTTOM], ...height.map(([km, m]) => [x(km), ground(m)]), [x(this.length), h - BOTTOM]];
    const band = [...charge.map((row) => [x(row[0]), y(row[3])]),
      ...charge.toReversed().map((row) => [x(row[0]), y(row[2])])];
    const [least, most] = [Math.min(...charges), Math.max(...charges)];
    const digits = most - least < 3 ? 1 : 0;
    this.svg.replaceChildren(
      drawing("path", { class: "evroute-hill", d: `${path(hill)}Z` }),
      drawing("path", { class: "evroute-band", d: `${path(band)}Z` }),
      drawing("path", { class: "evroute-charge", d: path(charge.map((row) => [x(row[0]), y(row[1])])) }),
      ...near.map(() => drawing("path", { class: "evroute-reserve", d: `M${SIDE} ${y(reserve)}H${x(this.length)}` })),
      ...[most, least].map((value) => drawing("text", { x: SIDE - 4, y: y(value) + 4, "text-anchor": "end" }, `${value.toFixed(digits)}`)),
      drawing("text", { x: 2, y: 12 }, "%"),
      ...ends.map((value) => drawing("text", { x: w - SIDE + 4, y: ground(value) + 4 }, value.toFixed(0))),
      drawing("text", { x: w - SIDE + 4, y: 12 }, "m"),
      ...Object.entries(KM_ANCHORS).map(([part, anchor]) => drawing("text", { x: x(part * this.length), y: h - 3, "text-anchor": anchor }, this.kmAt(Number(part)))),
      ...this.pointer(h),
    );
    this.words = this.svg.querySelector(".evroute-here");
    this.line = this.svg.querySelector(".evroute-at");
    this.svg.setAttribute("aria-valuenow", "0");
    this.svg.setAttribute("aria-valuetext", this.text(0));
  }

  pointer(h) {
    return [drawing("path", { class: "evroute-at", d: `M0 ${TOP - 4}V${h - BOTTOM}`, visibility: "hidden" }),
      drawing("text", { class: "evroute-here", y: 12, "text-anchor": "middle" })];
  }

  text(km) {
    const [percent, low, high] = [1, 2, 3].map((column) => between(this.data.charge, km, column));
    const digits = Math.max(this.data.digits, Math.round(low) === Math.round(high) ? 1 : 0);
    const ends = low === high ? "" : `, ${low.toFixed(digits)} to ${high.toFixed(digits)}`;
    return `here ${percent.toFixed(digits)} %${ends}`;
  }

  moveTo(share) {
    if (!this.data || !this.line) return;
    this.share = Math.min(Math.max(share, 0), 1);
    const km = this.share * this.length;
    const at = this.x(km);
    this.line.setAttribute("transform", `translate(${at} 0)`);
    this.line.setAttribute("visibility", "visible");
    this.words.textContent = this.text(km);
    const half = 80;
    this.words.setAttribute("x", String(Math.min(Math.max(at, half), this.svg.clientWidth - half)));
    this.svg.setAttribute("aria-valuenow", String(Math.round(this.share * STEPS)));
    this.svg.setAttribute("aria-valuetext", this.text(km));
    this.mark.setLatLng(this.pointAt(this.share)).addTo(this.map);
  }

  hideMark() {
    this.mark.remove();
    this.line?.setAttribute("visibility", "hidden");
    if (this.words) this.words.textContent = "";
  }

  // The point at a share of the length of the route's line.
  pointAt(share) {
    const line = this.route;
    const along = [0];
    line.slice(1).forEach((to, k) => along.push(along[k] + this.map.distance(line[k], to)));
    const goal = share * along.at(-1);
    const k = Math.max(1, along.findIndex((each) => each >= goal));
    const part = (goal - along[k - 1]) / (along[k] - along[k - 1] || 1);
    return [0, 1].map((axis) => line[k - 1][axis] + part * (line[k][axis] - line[k - 1][axis]));
  }
}
