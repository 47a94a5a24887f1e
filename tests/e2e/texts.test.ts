// A text comes back as it was written: from memory, from the log, from segments, from a backup.
import { query, removeDirectory, startTidemark, write } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

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
  // A graceful stop flushes.
  await running.stop();
  running = await startTidemark({ command: 'tsdb', directory });
  const fromSegments = await seen(running);

  expect(JSON.stringify(before)).toContain(`"${MARK}x"`);
  expect(fromLog).toEqual(before);
  expect(fromSegments).toEqual(before);
});
