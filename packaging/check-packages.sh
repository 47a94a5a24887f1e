#!/bin/bash
# The npm tarball and the Debian package on a clean Debian, with npm's registry and Debian's mirror: `npm install -g`
# without a compiler, `apt install`, the service's user, a restart after an upgrade, and a purge that leaves the data.
# Needs root, debootstrap and some minutes. `npm run package` first, or give the directory of the packages.
set -euo pipefail

root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
packages=${1:-$root/build/packages}
suite=${SUITE:-trixie}
work=$(mktemp -d)
clean=$work/root
finish() {
  umount -q "$clean/proc" || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
enter=(chroot "$clean" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
inside() { "${enter[@]}" "$@"; }

tarball=$(ls "$packages"/tidemark-*.tgz)
deb=$(ls "$packages"/tidemark_*.deb)

echo "== a clean $suite with Node.js and nothing to compile with"
debootstrap --variant=minbase --include=nodejs,ca-certificates,adduser "$suite" "$clean" >"$work/log" 2>&1 || {
  tail -5 "$work/log" >&2
  fail "debootstrap"
}
mount -t proc proc "$clean/proc"
cp /etc/resolv.conf "$clean/etc/resolv.conf"
# What this machine trusts besides the usual, a proxy for example.
cp -r /usr/local/share/ca-certificates "$clean/usr/local/share/"
inside update-ca-certificates >/dev/null 2>&1
# npm alone: Debian's package of it brings compilers.
mkdir -p "$clean/usr/local/lib/node_modules"
cp -rL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$clean/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$clean/usr/local/bin/npm"
for tool in cc gcc make python3; do ! inside which "$tool" >/dev/null 2>&1 || fail "$tool is there"; done

# Starts `tidemark up` as the user $1 on free ports with the data $2, uses it and stops it.
try() {
  local ready=$work/ready status=0
  # Each of these becomes the next one, so that the signal reaches the service.
  "${enter[@]}" setpriv --reuid="$1" --regid="$1" --clear-groups /bin/sh -c \
    "exec tidemark up --data-dir $2 --tsdb-bind 127.0.0.1:0 --engine-bind 127.0.0.1:0 --ui-bind 127.0.0.1:0" >"$ready" 2>"$work/log" &
  local server=$!
  for _ in $(seq 600); do
    grep -q '^ready ' "$ready" && break
    kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; fail "the start"; }
    sleep 0.1
  done
  local tsdb ui
  tsdb=$(sed -n 's/^ready tsdb=\([^ ]*\).*/\1/p' "$ready")
  ui=$(sed -n 's/^ready.* ui=\([^ ]*\).*/\1/p' "$ready")
  curl -sf -X POST "$tsdb/query" --data-urlencode 'q=CREATE DATABASE d' >/dev/null || fail "a statement"
  curl -sf -X POST "$tsdb/write?db=d" --data-binary 'm f=1 1' || fail "a write"
  curl -sfL "$ui" >"$work/page" && grep -q '<title>Tidemark' "$work/page" || fail "the page"
  kill -TERM "$server"
  wait "$server" || status=$?
  [ "$status" = 0 ] || fail "SIGTERM ended it with $status"
}

echo "== npm install -g $(basename "$tarball")"
cp "$tarball" "$clean/tmp/tidemark.tgz"
install() {
  inside npm install --global --no-audit --no-fund /tmp/tidemark.tgz >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "npm"; }
}
install
# Its own Node.js lacks a library here, and the system's is too old: what to do is said, and helps.
inside tidemark --version 2>"$work/refusal" && fail "it runs on Node.js 20"
grep -q 'apt install libatomic1' "$work/refusal" || { cat "$work/refusal" >&2; fail "the hint"; }
inside npm uninstall --global tidemark >/dev/null 2>&1
inside apt-get install -y -qq --no-install-recommends libatomic1 >"$work/log" 2>&1 || fail "libatomic1"
install
inside tidemark --version
inside mkdir /tmp/data && inside chown 65534:65534 /tmp/data
try 65534 /tmp/data
inside npm uninstall --global tidemark >/dev/null 2>&1
inside which tidemark >/dev/null && fail "npm left the command"
inside apt-get purge -y -qq libatomic1 >"$work/log" 2>&1 || fail "libatomic1"

echo "== apt install $(basename "$deb")"
printf '#!/bin/sh\nexit 101\n' >"$clean/usr/sbin/policy-rc.d" && chmod +x "$clean/usr/sbin/policy-rc.d"
cp "$deb" "$clean/tmp/tidemark.deb"
inside apt-get install -y --no-install-recommends /tmp/tidemark.deb >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "apt"; }
inside tidemark --version
inside tidemark config check /etc/tidemark/tidemark.toml
user=$(inside id -u tidemark)
[ "$(inside stat -c %U:%a /var/lib/tidemark)" = tidemark:750 ] || fail "the folder of the data"
try "$user" /var/lib/tidemark
[ -d "$clean/var/lib/tidemark/tsdb" ] || fail "no data"

echo "== apt-get install --reinstall keeps configuration and data"
echo '# mine' >>"$clean/etc/tidemark/tidemark.toml"
inside apt-get install -y --reinstall /tmp/tidemark.deb >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the upgrade"; }
grep -q '^# mine' "$clean/etc/tidemark/tidemark.toml" || fail "the configuration was replaced"
try "$user" /var/lib/tidemark

echo "== apt-get purge leaves the data"
inside apt-get purge -y tidemark >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the purge"; }
grep -q 'left as they are' "$work/log" || fail "nobody said so"
[ -d "$clean/var/lib/tidemark/tsdb" ] || fail "the data are gone"
inside id tidemark >/dev/null || fail "the owner of the data is gone"
for left in usr/bin/tidemark usr/lib/tidemark etc/tidemark/tidemark.toml; do
  [ ! -e "$clean/$left" ] || fail "$left is left"
done
echo "ok: npm and apt install, run and remove it; the data stay"
