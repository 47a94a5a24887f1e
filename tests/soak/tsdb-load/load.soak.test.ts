// The small form of `npm run soak:tsdb`.
import { removeDirectory, startTidemark } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { problemsOf, putUnderLoad } from './load.ts';
import type { LoadResult } from './load.ts';

const MEMORY_BUDGET_BYTES = 1024 * 1024 * 1024;

test('five seconds of idle, busy and misbehaving clients lose nothing and leave nobody without an answer', async () => {
  const server = await startTidemark({ command: 'tsdb', args: ['--log-level', 'error'] });
  try {
    const result = await putUnderLoad({
      url: server.tsdb,
      processId: server.process.pid ?? 0,
      durationMs: 5000,
      idleConnections: 200,
      writers: 8,
      readers: 2,
      misbehaving: 1,
    });
    expect(result.idleOpened).toBe(200);
    expect(problemsOf(result, MEMORY_BUDGET_BYTES)).toEqual([]);
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
}, 60_000);

test('the profile for small machines does the same within 256 MiB', async () => {
  const args = ['--log-level', 'error', '--profile', 'small'];
  const server = await startTidemark({ command: 'tsdb', args });
  try {
    const result = await putUnderLoad({
      url: server.tsdb,
      processId: server.process.pid ?? 0,
      durationMs: 5000,
      idleConnections: 100,
      writers: 8,
      readers: 4,
      misbehaving: 1,
    });
    expect(problemsOf(result, 256 * 1024 * 1024)).toEqual([]);
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
}, 60_000);

const GOOD: LoadResult = {
  idleOpened: 1,
  idleLost: 0,
  acknowledgedPoints: 10,
  storedPoints: 12,
  unsurePoints: 5,
  queries: 1,
  statuses: new Map(),
  unanswered: [],
  oversized: [413],
  endless: [413],
  slowCut: 0,
  slowMaxMs: 30_000,
  maxResidentBytes: 100,
};

test.each([
  [{}, []],
  [{ storedPoints: 9 }, ['1 acknowledged points are lost']],
  [{ storedPoints: 16 }, ['there are more points than were sent']],
  [{ unanswered: ['GET /x: reset'] }, ['1 requests without an answer: GET /x: reset']],
  [{ oversized: [413, 0] }, ['1 of 2 oversized bodies got 413']],
  [{ idleLost: 2 }, ['2 idle connections were closed']],
  [{ endless: [] }, ['0 of 0 bodies without end got 413']],
  [{ endless: [413, 0] }, ['1 of 2 bodies without end got 413']],
  [{ slowMaxMs: 35_001 }, ['headers that came slowly were borne for 35001 ms']],
  [{ maxResidentBytes: 101 }, ['memory rose to 101 of 100 bytes']],
])('a result with %j has its problems named', (change, problems) => {
  expect(problemsOf({ ...GOOD, ...change }, 100)).toEqual(problems);
});
