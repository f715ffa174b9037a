// Places of labels on the lines of routes.

// The longest part of a line that no other route shares.
function ownPart(line, others) {
  const shared = new Set(others.flatMap((route) => route.line).map(String));
  let [best, run] = [[], []];
  for (const point of line) {
    run = shared.has(String(point)) ? [] : [...run, point];
    if (run.length > best.length) best = run;
  }
  return best.length ? best : line;
}

const PLACES = 33; // of a label along its part of a route

// Points of a line at equal shares of its length, those near its middle first.
function fromTheMiddle(line) {
  const along = [0];
  line.slice(1).forEach(([lat, lng], k) => {
    const east = (lng - line[k][1]) * Math.cos((lat * Math.PI) / 180);
    along.push(along[k] + Math.hypot(lat - line[k][0], east));
  });
  const shares = Array.from({ length: PLACES }, (_, k) => (k + 0.5) / PLACES);
  shares.sort((a, b) => Math.abs(a - 0.5) - Math.abs(b - 0.5));
  return shares.map((share) => {
    const goal = share * along.at(-1);
    const k = Math.max(1, along.findIndex((each) => each >= goal));
    if (line.length === 1) return line[0];
    const part = (goal - along[k - 1]) / (along[k] - along[k - 1] || 1);
    return [0, 1].map((axis) => line[k - 1][axis] + part * (line[k][axis] - line[k - 1][axis]));
  });
}
