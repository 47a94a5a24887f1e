// Hooks of Node's loader, in its own thread; see `patch-source.mjs`.
import { fileURLToPath } from 'node:url';

let edits = [];

export function initialize(data) {
  edits = data;
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.startsWith('file:')) return loaded;
  const path = fileURLToPath(url.split('?')[0]);
  const own = edits.filter(({ file }) => path.endsWith(`/${file}`));
  if (own.length === 0) return loaded;
  let source = Buffer.from(loaded.source).toString('utf8');
  for (const { from, to } of own) source = source.replace(from, () => to);
  return { ...loaded, source };
}
