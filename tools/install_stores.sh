#!/bin/sh
# Installs Debian's PostgreSQL and Redis for `make cluster` if they are missing. Starts neither: the cluster runs its own.
# Needs root and a current list of packages. Does nothing where there is no apt.
set -eu
command -v apt-get >/dev/null || exit 0
wanted=
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || wanted="$wanted postgresql"
command -v redis-server >/dev/null || wanted="$wanted redis-server"
[ -n "$wanted" ] || exit 0
if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
# shellcheck disable=SC2086  a list of words
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted >/dev/null
