#!/bin/sh
# Installs the pinned Node.js into this folder (docs/adr/0029-runtime.md). Runs after `npm ci`. Where there is none for
# the platform, or it does not run, the system's Node.js is used: the launcher says so if that one is too old.
cd "$(dirname "$0")" || exit 1
[ "${TIDEMARK_NODE:-}" = system ] && exit 0

cmp -s package-lock.json node_modules/.installed-lock && exit 0
npm ci --no-audit --no-fund --loglevel=error >&2 || echo 'The pinned Node.js could not be installed.' >&2
# A platform without a package has nothing to try.
for node in node_modules/node-*/bin/node; do
  [ -e "$node" ] || continue
  if "$node" --version >/dev/null; then
    # Headers and manuals are two fifths of the package.
    rm -rf "${node%/bin/node}/include" "${node%/bin/node}/share"
    cp package-lock.json node_modules/.installed-lock
  else
    echo "The pinned Node.js does not run here: the system's is used instead. On Debian, apt install libatomic1 provides what it lacks; then run npm ci again." >&2
    rm -rf node_modules
  fi
done
exit 0
