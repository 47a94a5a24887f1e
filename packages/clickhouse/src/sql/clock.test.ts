// Clocks of servers may differ: no statement depends on one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

/** Functions that give another value at another time, and types by which tables can expire. */
const READS_A_CLOCK =
  /(?<![\w.])(?:(?:now|now64|nowInBlock|today|yesterday|current_timestamp|uptime)\s*\(|(?:TTL|Date|DateTime\w*)\b)/gi;

const COMMENTS = /\/\*\*?[^]*?\*\/|^\s*\/\/.*$/gm;

test('no statement that the cluster is sent reads a clock', () => {
  const found = readdirSync(join(import.meta.dirname, '..'), {
    withFileTypes: true,
    recursive: true,
  })
    .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path, text: readFileSync(path, 'utf8').replace(COMMENTS, '') }))
    .map(({ path, text }) => ({ path, text, clocks: text.match(READS_A_CLOCK) ?? [] }));

  expect(found.filter(({ text }) => text.includes('SELECT')).length).toBeGreaterThan(10);
  expect(found.filter(({ clocks }) => clocks.length > 0)).toEqual([]);
  const examples = ['SELECT now() AS a', 't DateTime DEFAULT 0', 'ORDER BY a TTL d'];
  expect(examples.map((text) => text.match(READS_A_CLOCK)?.length)).toEqual([1, 1, 1]);
});
