#!/bin/sh
# Installs Debian's PostgreSQL and Redis for `make cluster` if they are missing. Starts neither: the cluster runs its own.
# Needs root. Does nothing where there is no apt.
set -eu
wanted=
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || wanted="$wanted postgresql"
command -v redis-server >/dev/null || wanted="$wanted redis-server"
[ -n "$wanted" ] || exit 0
# shellcheck disable=SC2086  a list of words
exec "$(dirname "$0")/install_debian.sh" $wanted
