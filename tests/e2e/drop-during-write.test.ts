// A drop during a long write stays in force, and rows of the write never turn up under what
// is created in its place.
import { setImmediate } from 'node:timers/promises';

import { query, removeDirectory, send, startTidemark, write } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

let server: Tidemark;

beforeEach(async () => {
  server = await startTidemark({ command: 'tsdb' });
});

afterEach(async () => {
  await server.kill();
  await removeDirectory(server.directory);
});

const LINES = 300_000;

/** A body of many parts, each line of a series of its own: each value is 666. */
function longBody(): string {
  const lines = Array.from({ length: LINES }, (_, i) => `private,host=h${i} v=666 ${i + 1}`);
  return lines.join('\n');
}

/** Counts rows of a measurement and returns its largest value. */
async function countAndMax(measurement: string): Promise<readonly unknown[]> {
  const [series] = await query(server.tsdb, `SELECT count(v), max(v) FROM ${measurement}`, 'd');
  return series?.values?.[0]?.slice(1) ?? [0, null];
}

test.each([
  {
    what: 'a database',
    statements: ['DROP DATABASE d', 'CREATE DATABASE d'],
    url: '/write?db=d',
  },
  {
    what: 'a retention policy',
    statements: [
      'DROP RETENTION POLICY autogen ON d',
      'CREATE RETENTION POLICY autogen ON d DURATION INF REPLICATION 1 DEFAULT',
    ],
    url: '/write?db=d&rp=autogen',
  },
])('$what that is dropped and made again during a write has only its own rows', async (one) => {
  await query(server.tsdb, 'CREATE DATABASE d');
  const body = longBody();
  for (let round = 0; round < 3; round++) {
    const writing = send(`${server.tsdb}${one.url}`, { method: 'POST', body });
    while ((await countAndMax('private'))[0] === 0) await setImmediate();
    for (const statement of one.statements) await query(server.tsdb, statement, 'd');
    await write(server.tsdb, 'd', 'public v=1 1');
    const answer = await writing;

    expect([204, 404], answer.text).toContain(answer.status);
    expect(await countAndMax('public')).toEqual([1, 1]);
    const [count, max] = await countAndMax('private');
    expect(count).toBeLessThan(LINES);
    expect([null, 666]).toContain(max);

    for (const statement of one.statements) await query(server.tsdb, statement, 'd');
    expect(await countAndMax('public')).toEqual([0, null]);
    expect(await countAndMax('private')).toEqual([0, null]);
  }
});
