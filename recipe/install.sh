#!/bin/sh
# Install evroute with the dashboard and the service into a new environment: sh recipe/install.sh FOLDER
# The image runs it. The versions are those of constraints.txt. The licences of what it installs stay in
# FOLDER/lib/python3.*/site-packages/*.dist-info.
set -eu
folder=${1:?name the folder of the environment: sh recipe/install.sh FOLDER}
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check -c constraints.txt '.[app,serve,fast]'
"$folder/bin/python" -m compileall -q "$folder/lib"
"$folder/bin/evroute" --version
