// Reads a metadata file in a process of its own: what LMDB does with a damaged page is to end the process that reads it.
// `node read-store.mjs FILE check` prints sizes and findings per table, `node read-store.mjs FILE first|last TABLE` prints every entry
// of a table from that end on. Started by src/store-repair.ts.
import { writeSync } from 'node:fs';
import { open } from 'lmdb';

const [file = '', mode = '', wanted] = process.argv.slice(2);
// Their entries are no JSON.
const BINARY_TABLES = new Set(['outbox', 'snapshots']);

const root = open({ path: file, noSubdir: true, maxDbs: 32, readOnly: true });
for (const table of [...root.getKeys()].map(String)) {
  if (wanted !== undefined && table !== wanted) continue;
  const database = root.openDB({ name: table, encoding: 'binary' });
  const { entryCount } = database.getStats();
  // First of all, as the table may end this process.
  say({ table, entryCount });
  let count = 0;
  let isGood = true;
  for (const { key, value } of database.getRange({ reverse: mode === 'last' })) {
    count++;
    isGood &&= mode !== 'check' || isReadable(table, value);
    // Synchronous, so that it has arrived when the next page ends this process.
    if (mode !== 'check')
      say({ table, key, value: value.toString('base64'), isGood: isReadable(table, value) });
  }
  say({ table, entryCount, count, isGood });
}
await root.close();

function isReadable(table, value) {
  if (BINARY_TABLES.has(table)) return true;
  try {
    JSON.parse(value.toString('utf8'));
    return true;
  } catch {
    // Damaged within a page, which the file itself does not notice.
    return false;
  }
}

function say(line) {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
