#!/bin/bash
# Does what the Dockerfile says without a container, for machines that reach no registry of images: builds a clone of
# HEAD with the Dockerfile's own RUN line, then starts its ENTRYPOINT and CMD as a user who owns nothing but the data.
# Needs npm's registry and some minutes. Ports are taken free ones; everything else is as in the image.
set -euo pipefail

root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
work=$(mktemp -d)
server=
finish() {
  if [ -n "$server" ]; then kill -KILL "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*" >&2; cat "$work/log" >&2 2>/dev/null || true; exit 1; }

git -c advice.detachedHead=false clone -q --no-hardlinks "$root" "$work/image"
cd "$work/image"
build=$(sed -n 's/^RUN \(npm .*\)$/\1/p' Dockerfile)
echo "== $build"
sh -c "$build" >"$work/log" 2>&1 || fail "the build"
for tool in typescript vitest assemblyscript vite; do
  [ ! -e "node_modules/$tool" ] || fail "$tool is left in the image"
done
du -sh node_modules | sed 's/^/== node_modules: /'

mkdir "$work/data"
chmod 755 "$work"
chmod -R go+rX,go-w .
as_user=()
if [ "$(id -u)" = 0 ]; then
  chown 65534:65534 "$work/data"
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
fi
# ENTRYPOINT and CMD are JSON arrays.
mapfile -t command < <(node -e '
  const text = require("node:fs").readFileSync("Dockerfile", "utf8");
  const words = (name) => JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, "m").exec(text)[1]);
  const free = (word) => word.replace(/^\/data$/, process.argv[1]).replace(/:\d+$/, ":0");
  console.log([...words("ENTRYPOINT"), ...words("CMD")].map(free).join("\n"));' "$work/data")
echo "== ${command[*]}"
touch "$work/started"
env -i PATH="$PATH" HOME=/nonexistent "${as_user[@]}" "${command[@]}" >"$work/ready" 2>"$work/log" &
server=$!
for _ in $(seq 600); do
  grep -q '^ready ' "$work/ready" && break
  kill -0 "$server" 2>/dev/null || fail "the start"
  sleep 0.1
done
grep '^ready ' "$work/ready" | sed 's/^/== /' || fail "no ready line"
address() { sed -n "s/^ready.* $1=\([^ ]*\).*/\1/p" "$work/ready" | sed "s/0\.0\.0\.0/127.0.0.1/"; }

node -e '
  const [tsdb, engine, ui] = process.argv.slice(1);
  const expectStatus = async (status, url, init) => {
    const answer = await fetch(url, init);
    if (answer.status !== status) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer.text();
  };
  const main = async () => {
    await expectStatus(200, `${tsdb}/health`);
    await expectStatus(200, `${tsdb}/query?q=CREATE+DATABASE+d`, { method: "POST" });
    await expectStatus(204, `${tsdb}/write?db=d`, { method: "POST", body: "m f=1 1" });
    const rows = await expectStatus(200, `${tsdb}/query?db=d&epoch=ns&q=SELECT+f+FROM+m`);
    if (!rows.includes("[[1,1]]")) throw new Error(rows);
    await expectStatus(204, `${engine}/kapacitor/v1/ping`);
    await expectStatus(200, `${ui}/`);
  };
  main().catch((error) => { console.error(String(error)); process.exit(1); });
' "$(address tsdb)" "$(address engine)" "$(address ui)" || fail "a request"

owner=$(stat -c %U "/proc/$server")
kill -TERM "$server"
status=0
wait "$server" || status=$?
server=
[ "$status" = 0 ] || fail "SIGTERM ended it with $status"
[ -e "$work/data/tsdb" ] || fail "nothing is in the volume"
[ -z "$(find . -newer "$work/started" -type f | head -1)" ] || fail "it wrote outside of its volume"
echo "ok: built, served as $owner, stopped by SIGTERM with 0, wrote to its volume only"
