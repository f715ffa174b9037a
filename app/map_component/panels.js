// Rectangles of the map that panels cover: names, labels, pins and routes keep clear of them.

const PANELS = ".evroute-legend, .evroute-source, .leaflet-control-scale, .leaflet-control-zoom, "
  + ".leaflet-control-layers, .evroute-hint";
const LEAST_FREE = 0.4; // of width and height of the map stay for what is fitted between panels

// [left, top, right, bottom] of each visible panel, pixels of the map.
function panelsOf(root) {
  const { left, top } = root.getBoundingClientRect();
  return [...root.querySelectorAll(PANELS)].map((panel) => panel.getBoundingClientRect())
    .filter((box) => box.width && box.height)
    .map((box) => [box.left - left, box.top - top, box.right - left, box.bottom - top]);
}

function isWithin({ x, y }, boxes, margin = 0) {
  return boxes.some(([left, top, right, bottom]) => x > left - margin && x < right + margin
    && y > top - margin && y < bottom + margin);
}

// The room of a pin whose tip is at a point.
function pinBox({ x, y }) {
  return [x - 15, y - 33, x + 15, y + 2];
}

// Two paddings, reduced in proportion where they would leave too little of a size.
function roomy(size, before, after) {
  const share = Math.min(1, (size * (1 - LEAST_FREE)) / (before + after || 1));
  return [share * before, share * after];
}
