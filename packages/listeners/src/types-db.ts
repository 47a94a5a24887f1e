// types.db of collectd: which values a type has, and of which kind.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the data sources of a type, in the order of a packet's values. */
export type TypesDb = ReadonlyMap<string, readonly string[]>;

/** `type  name:kind:min:max, name:kind:min:max`; `#` begins a comment. */
function parseTypesDb(text: string): TypesDb {
  const types = new Map<string, readonly string[]>();
  for (const line of text.split('\n')) {
    const [type, ...sources] = line
      .replace(/#.*/, '')
      .trim()
      .split(/[\s,]+/);
    if (type === undefined || type === '' || sources.length === 0) continue;
    types.set(
      type,
      sources.map((source) => source.split(':')[0] ?? source),
    );
  }
  return types;
}

/** Reads a file, or all files of a folder. */
export function readTypesDb(path: string): TypesDb {
  if (!statSync(path).isDirectory()) return parseTypesDb(readFileSync(path, 'utf8'));
  const types = new Map<string, readonly string[]>();
  for (const name of readdirSync(path).sort()) {
    const file = join(path, name);
    if (!statSync(file).isFile()) continue;
    for (const [type, sources] of parseTypesDb(readFileSync(file, 'utf8')))
      types.set(type, sources);
  }
  return types;
}
