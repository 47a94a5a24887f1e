#!/bin/sh
# Before npm links the programs of an installed package: where the pinned Node.js does not run (a library is missing,
# or the C library is another one), the system's takes its place, so that what npm starts next works.
for node in node_modules/node-*/bin/node ../node-*/bin/node; do
  [ -e "$node" ] || continue
  "$node" --version >/dev/null 2>&1 && continue
  echo "tidemark: the pinned Node.js does not run here, the system's is used instead (docs/guide/running.md)" >&2
  system=$(command -v node) && ln -sf "$system" "$node"
done
exit 0
