#!/bin/sh
# Unpacks the HTML of Debian's documentation packages into a folder, for test_real_pages.py: install_docs.sh FOLDER
# Needs apt; installs nothing on the machine. FOLDER/.complete is written last.
set -eu
folder=$1
packages="python3.11-doc git-doc postgresql-doc-15 sqlite3-doc nodejs-doc debian-policy developers-reference"

command -v apt-get >/dev/null || { echo "no apt-get on this machine" >&2; exit 1; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2086 # a list of packages
if ! apt-get download -qq $packages >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] && apt-get update -qq >/dev/null 2>&1 || true
    apt-get download -qq $packages >/dev/null
fi
for archive in *.deb; do
    dpkg-deb --extract "$archive" "$folder"
done
touch "$folder/.complete"
