// Reads a metadata file in a separate process, because LMDB ends the process that reads a damaged
// page. `node read-store.mjs BINARY FILE check` prints how much of the file is used, then sizes and
// findings per table, `node read-store.mjs BINARY FILE first|last TABLE` prints every entry of a
// table from that end on. BINARY is a comma-separated list of the tables whose values are not JSON.
// Started by src/store/store-repair.ts.
import { createDecipheriv, createHmac } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { open } from 'lmdb';

// Key of sealed values (src/store/store-cipher.ts), in hexadecimal; empty when it is unknown.
let key = Buffer.from(readFileSync(0, 'utf8'), 'hex');

const [binary = '', file = '', mode = '', wanted] = process.argv.slice(2);
const BINARY_TABLES = new Set(binary.split(','));

const root = open({ path: file, noSubdir: true, maxDbs: 32, readOnly: true });
if (mode === 'check') {
  // Printed first, because a missing page ends this process.
  const { pageSize, lastPageNumber } = root.getStats();
  say({ usedBytes: (lastPageNumber + 1) * pageSize });
}
// With another key every value would seem damaged; the engine reports that when it opens the file.
if (mode === 'check' && !isWrittenWith(key)) key = Buffer.alloc(0);
for (const table of [...root.getKeys()].map(String)) {
  if (wanted !== undefined && table !== wanted) continue;
  const database = root.openDB({ name: table, encoding: 'binary' });
  const { entryCount } = database.getStats();
  // Printed first, because reading the table may end this process.
  say({ table, entryCount });
  let count = 0;
  let isGood = true;
  for (const { key: id, value } of database.getRange({ reverse: mode === 'last' })) {
    count++;
    isGood &&= mode !== 'check' || isReadable(table, id, value);
    // Synchronous, so that the output is complete when the next page ends this process.
    if (mode !== 'check')
      say({
        table,
        key: id,
        value: value.toString('base64'),
        isGood: isReadable(table, id, value),
      });
  }
  say({ table, entryCount, count, isGood });
}
await root.close();

function isWrittenWith(candidate) {
  try {
    const { clusterId, keyCheck } = root
      .openDB({ name: 'identity', encoding: 'json' })
      .get('engine');
    return createHmac('sha256', candidate).update(clusterId).digest('hex') === keyCheck;
  } catch {
    // Damaged or missing, so the key is not known to fit.
    return false;
  }
}

function unsealed(table, id, text) {
  const bytes = Buffer.from(text.slice('enc1:'.length), 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    .setAAD(Buffer.from(JSON.stringify([table, id])))
    .setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
}

function isReadable(table, id, value) {
  if (BINARY_TABLES.has(table)) return true;
  try {
    const found = JSON.parse(value.toString('utf8'));
    const isSealed = typeof found === 'string' && found.startsWith('enc1:');
    if (isSealed && key.length > 0) JSON.parse(unsealed(table, id, found));
    return true;
  } catch {
    // Damaged within a page, which LMDB does not notice.
    return false;
  }
}

function say(line) {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
