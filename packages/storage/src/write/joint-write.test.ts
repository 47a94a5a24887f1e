// Writes that come together are what they are one by one: every outcome, and every row.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WriteLinesRequest, WriteOutcome } from '@tidemark/storage-api';

import { openStorageInline } from '../engine/open-inline.ts';
import type { Engine } from '../engine/engine.ts';
import { POLICY, scanRows } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { isJoinable } from './joint-write.ts';

const NOW = 1_000_000n;
const FIELDS = [
  ['v', 'float'],
  ['i', 'integer'],
  ['s', 'string'],
] as const;

async function open(): Promise<Engine> {
  return openStorageInline(
    { directory: '/data', hasBackgroundWork: false },
    { disk: new SimulatedDisk() },
  );
}

function requests(bodies: readonly string[], more: Partial<WriteLinesRequest> = {}) {
  return bodies.map((text, i): WriteLinesRequest => ({
    policy: POLICY,
    body: Buffer.from(text),
    precision: 'ns',
    now: NOW + BigInt(i),
    isDetailed: true,
    ...more,
  }));
}

/** The answer that a client gets. */
function told({ pointsWritten, parseErrors, dropped, rejectedLines = [] }: WriteOutcome): unknown {
  return { pointsWritten, parseErrors, dropped, rejectedLines };
}

async function compare(all: readonly WriteLinesRequest[]): Promise<readonly WriteOutcome[]> {
  const [joint, single] = [await open(), await open()];
  try {
    const together = await Promise.all(joint.writeTogether(all));
    const apart: WriteOutcome[] = [];
    for (const request of all) apart.push(await single.writeLines(request));

    expect(together.map(told)).toEqual(apart.map(told));
    const values = (outcomes: readonly WriteOutcome[]): number =>
      outcomes.reduce((sum, { valuesWritten }) => sum + valuesWritten, 0);
    expect(values(together)).toBe(values(apart));
    for (const measurement of ['m', 'n']) {
      expect(await scanRows(joint, measurement, FIELDS)).toEqual(
        await scanRows(single, measurement, FIELDS),
      );
    }
    const placesOf = async (engine: Engine): Promise<readonly unknown[]> =>
      (await engine.shards()).map(({ retentionPolicy, start }) => [retentionPolicy, start]);
    expect(await placesOf(joint)).toEqual(await placesOf(single));
    const [a, b] = [(await joint.statistics()).counters, (await single.statistics()).counters];
    expect(a.writeRequests).toBe(b.writeRequests);
    expect(a.pointsWritten).toBe(b.pointsWritten);
    expect(a.parseErrors).toBe(b.parseErrors);
    return together;
  } finally {
    await joint.close();
    await single.close();
  }
}

test.each([
  ['points', ['m v=1 1', 'm,t=a v=2 2\n', 'n i=3i 3\nn i=4i 4']],
  ['the same point, the last one wins', ['m v=1 1', 'm v=2 1\n', 'm v=3 1']],
  ['comments and empty lines', ['# one\n\nm v=1 1', '  # two', '', ' \r\n', 'm v=2 2']],
  ['points without a time', ['m v=1', 'm v=2', 'm v=3 5']],
  ['a line that cannot be parsed', ['m v=1 1', 'm v= 2\nm v=3 3', 'm v=4 4']],
  ['a conflict of types', ['m v=1 1', 'm v=2i 2', 'n i=5i 3']],
  ['a new field that is in conflict', ['n i=1i 1', 'n i=2 2']],
  ['a text that is not closed', ['m s="a', '#b" 1\nm v=1 1']],
  ['a text of several lines', ['m s="a\nb" 1', 'm v=1 2']],
  ['an escaped line feed at the end', ['m\\\n', ' v=1 1', 'n i=1i 1']],
  ['an escaped end', ['m v=1 1\nm\\', ',t=a v=2 2']],
  ['bytes that are no UTF-8', ['m v=1 1', 'm,t=\uD800 v=2 2']],
])('%s', async (_what, bodies) => {
  await compare(requests(bodies));
});

test('they are one record of the log', async () => {
  const engine = await open();

  await Promise.all(engine.writeTogether(requests(['m v=1 1', 'm,t=a v=2 2', 'n i=3i 3'])));

  expect((await engine.statistics()).counters).toMatchObject({ walRecords: 1, writeRequests: 3 });
  await engine.close();
});

test('other policies and units are apart', async () => {
  const [first, second] = requests(['m v=1 1', 'm v=2 2']);
  const policy = { ...POLICY, id: POLICY.id + 1, retentionPolicy: 'long' };

  await compare([first!, { ...second!, policy }, first!, { ...second!, precision: 's' }]);
});

test('points that are too old or too new are refused by write', async () => {
  const policy = { ...POLICY, oldestAccepted: 10n, newestAccepted: 20n };

  const outcomes = await compare(requests(['m v=1 9', 'm v=2 15', 'm v=3 21'], { policy }));

  expect(outcomes.map(({ pointsWritten }) => pointsWritten)).toEqual([0, 1, 0]);
});

test('a limit of series is told to the write that exceeds it', async () => {
  const policy = { ...POLICY, maxSeriesPerDatabase: 2 };

  const outcomes = await compare(
    requests(['m,t=a v=1 1', 'm,t=b v=1 1', 'm,t=c v=1 1'], { policy }),
  );

  expect(outcomes.map(({ pointsWritten }) => pointsWritten)).toEqual([1, 1, 0]);
});

test('random bodies', async () => {
  const pieces = ['m', 'n', ',t=a', ',t=b', ' ', ' v=1', ' i=2i', ' s="x"', ' v=2i', ',v=3', ' 1'];
  const more = [' 2', ' 7', '\n', '"', '\\', '#', '\r\n', 'm v=1 1\n', 'n,t=a i=1i 2\n'];
  const piece = fc.constantFrom(...pieces, ...more, 'm,t=b v=5 3');
  const body = fc.array(piece, { maxLength: 8 }).map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 2, maxLength: 5 }), async (bodies) => {
      const all = requests(bodies);
      // Concurrent writes have no order: those of a joint one that is refused are made behind a
      // single one that came later.
      const isSingle = all.map((request) => !isJoinable(request));
      const first = isSingle.indexOf(false);
      fc.pre(first < 0 || !isSingle.includes(true, first));
      await compare(all);
    }),
    { numRuns: 150 },
  );
});
