"""Write ``trips.csv``: two planned routes, measured 20 % above eq. 8."""

from pathlib import Path

import evroute

HERE = Path(__file__).parent

if __name__ == "__main__":
    rows = ["trip,edge,energy_wh,travel_s"]
    for trip in ("A", "B"):
        route = evroute.plan(
            HERE / "denver.npz", trip=trip, vehicle="reference", physics="eq8"
        ).routes["energy"]
        travel_s = route.time_s / len(route.edges)
        for edge, energy_wh in zip(route.edges, route.edge_wh, strict=True):
            rows.append(f'{trip},"{edge}",{energy_wh + 0.2 * abs(energy_wh):.3f},{travel_s:.1f}')
    (HERE / "trips.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
