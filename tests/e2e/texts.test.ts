// String values are returned as they were written: from memory, from the log, from segments, from a
// backup.
import { query, removeDirectory, send, startTidemark, write } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

import { toSegments } from './to-segments.ts';

let running: Tidemark | undefined;

afterEach(async () => {
  await running?.kill();
  if (running !== undefined) await removeDirectory(running.directory);
  running = undefined;
});

const MARK = '\uFEFF';

async function seen(server: Tidemark): Promise<unknown> {
  const marked = `"${MARK}m"`;
  const statements = [
    `SELECT * FROM ${marked}`,
    `SELECT "${MARK}s" FROM ${marked} WHERE "${MARK}s" = '${MARK}x'`,
    `SELECT last("${MARK}s") FROM ${marked} WHERE "${MARK}t" = '${MARK}v'`,
    `SHOW TAG VALUES FROM ${marked} WITH KEY = "${MARK}t"`,
    'SHOW FIELD KEYS',
  ];
  const answers = [];
  for (const statement of statements) answers.push(await query(server.tsdb, statement, 'd'));
  return answers;
}

test('a text that begins with a byte order mark keeps it through flushes and restarts', async () => {
  running = await startTidemark({ command: 'tsdb' });
  const { directory } = running;
  await query(running.tsdb, 'CREATE DATABASE d');
  await write(running.tsdb, 'd', `${MARK}m,${MARK}t=${MARK}v ${MARK}s="${MARK}x" 1`);
  const before = await seen(running);
  await running.kill();

  running = await startTidemark({ command: 'tsdb', directory });
  const fromLog = await seen(running);
  await running.stop();
  await toSegments(directory);
  running = await startTidemark({ command: 'tsdb', directory });
  const fromSegments = await seen(running);

  expect(JSON.stringify(before)).toContain(`"${MARK}x"`);
  expect(fromLog).toEqual(before);
  expect(fromSegments).toEqual(before);
});

const longText = (number: number, length = 30_000): string => `${number}-`.padEnd(length, 'x');

/** Two series of `count` texts each, at other times. */
function longTexts(count: number): string {
  const rows = Array.from(
    { length: 2 * count },
    (_, i) => `big,h=${i % 2} t="${longText(i)}" ${i}`,
  );
  return rows.join('\n');
}

test('a query of texts over its limit names the setting, and everything else goes on', async () => {
  const environment = { TIDEMARK_COORDINATOR_QUERY_MEMORY_LIMIT: '2m' };
  running = await startTidemark({ command: 'tsdb', environment });
  const { tsdb } = running;
  await query(tsdb, 'CREATE DATABASE d');
  await write(tsdb, 'd', longTexts(50));

  for (const text of ['SELECT distinct(t) FROM big', 'SELECT mode(t) FROM big']) {
    await expect(query(tsdb, text, 'd')).rejects.toThrow(/query-memory-limit/);
  }
  // Rows are merged slice by slice.
  expect((await query(tsdb, 'SELECT t FROM big', 'd'))[0]?.values).toHaveLength(100);
  await write(tsdb, 'd', 'other v=1 1');
  expect(await query(tsdb, 'SELECT v FROM other', 'd', { epoch: 'ns' })).toMatchObject([
    { values: [[1, 1]] },
  ]);
  const last = await query(tsdb, 'SELECT last(t) FROM big GROUP BY h', 'd');
  expect(last.map(({ values }) => values?.[0]?.[1])).toEqual([longText(98), longText(99)]);
});

test('tags of series count as memory of a query', async () => {
  const environment = { TIDEMARK_COORDINATOR_QUERY_MEMORY_LIMIT: '1m' };
  running = await startTidemark({ command: 'tsdb', environment });
  const { tsdb } = running;
  await query(tsdb, 'CREATE DATABASE d');
  const lines = Array.from({ length: 1000 }, (_, i) => `m,a=${longText(i, 2000)} v=${i} ${i}`);
  await write(tsdb, 'd', lines.join('\n'));

  const most = 'SELECT top(v, a, 1000) FROM m';
  await expect(query(tsdb, most, 'd')).rejects.toThrow(/query-memory-limit/);
  // Tags that nobody reads are not held.
  expect((await query(tsdb, 'SELECT v FROM m', 'd'))[0]?.values).toHaveLength(1000);
});

test('response chunks of long texts have fewer rows than were asked for', async () => {
  running = await startTidemark({ command: 'tsdb' });
  const { tsdb } = running;
  await query(tsdb, 'CREATE DATABASE d');
  await write(tsdb, 'd', longTexts(300));
  const parameters = new URLSearchParams({ db: 'd', q: 'SELECT t FROM big', chunked: 'true' });

  const { text } = await send(`${tsdb}/query?${parameters.toString()}`);

  const chunks = text.trim().split('\n');
  const rows = chunks.map((chunk) => JSON.parse(chunk).results[0].series[0].values.length);
  expect(chunks.length).toBeGreaterThan(3);
  for (const chunk of chunks) expect(chunk.length).toBeLessThan(5 << 20);
  expect(rows.reduce((sum, count) => sum + count, 0)).toBe(600);
});
