#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# packages.sh FOLDER: installs what the viewer tests need from npm into FOLDER/node_modules. The
# versions are the ones the tests were written against; another may word its table otherwise.
set -eu
folder=${1:?usage: packages.sh FOLDER}
mkdir -p "$folder"
exec npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts \
    speedscope@1.25.0 playwright-core@1.65.1 @duckdb/node-api@1.5.6-r.1
