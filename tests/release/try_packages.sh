#!/usr/bin/env bash
# Try the wheel and the source archive of a folder as a user would: in empty environments, outside the checkout.
# bash tests/release/try_packages.sh dist
set -euo pipefail
packages=$(cd "${1:?name the folder of the packages: bash tests/release/try_packages.sh dist}" && pwd)
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
export EVROUTE_CACHE_DIR="$work/cache"

tried() { # tried NAME PACKAGE: install a package without extras, plan, learn and plan on what was learned
  python3 -m venv "$1"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check "$2"
  "$1/bin/python" -c 'import evroute; print(evroute.plan("denver", trip="C").least_energy.energy_wh)'
  "$1/bin/evroute" route --trip C --soc 8 --reserve 5 | grep 'You get there'
  "$1/bin/evroute" learn "$("$1/bin/python" -c 'from evroute.resources import data_path; print(data_path("examples", "edges.csv"))')" --out "$1-belief"
  "$1/bin/evroute" route --trip C --belief "$1-belief" --json >"$1.json"
}

answers() { # answers ADDRESS: whether an address answers within a minute
  for _ in $(seq 60); do
    if python3 -c "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)" "$1" 2>/dev/null; then
      echo "$1 answers"
      return 0
    fi
    sleep 1
  done
  echo "$1 does not answer" >&2
  return 1
}

tried wheel "$(ls "$packages"/*.whl)"
tried sdist "$(ls "$packages"/*.tar.gz)"
wheel/bin/python -m pip install --quiet --disable-pip-version-check "$(ls "$packages"/*.whl)[app,serve,fast]"
wheel/bin/evroute serve --beliefs beliefs --port 8765 &
server=$!
answers http://127.0.0.1:8765/healthz
kill "$server"
wheel/bin/evroute app --port 8766 &
server=$!
answers http://127.0.0.1:8766
echo 'the packages work'
