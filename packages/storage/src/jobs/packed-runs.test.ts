// Compaction copies frames of texts, and gives the same rows whether it can or not.
import type { StorageEngine } from '@tidemark/storage-api';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { codecs } from '../columns/codecs.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import { scanRows, write } from '../testing/fixtures.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { verifyDirectory } from '../tools/verify.ts';

const OPTIONS = { directory: '/data', hasBackgroundWork: false };
const FIELDS = [
  ['s', 'string'],
  ['t', 'string'],
  ['n', 'integer'],
] as const;

/** Nearly all texts differ, so that they lie in frames. */
function text(row: number): string {
  return `id=${Math.imul(row + 1, 0x9e3779b1) >>> 0} of request ${row} é`.padEnd(
    60 + (row % 50),
    '.',
  );
}

/** Rows [from, to) of one series; every `nullEvery`-th row has no text. */
function lines(from: number, to: number, nullEvery = 0): string {
  const all: string[] = [];
  for (let row = from; row < to; row++) {
    const isNull = nullEvery > 0 && row % nullEvery === 0;
    all.push(`log,h=x ${isNull ? '' : `s="${text(row)}",`}n=${row}i ${row}\n`);
  }
  return all.join('');
}

async function flushed(engine: StorageEngine, body: string): Promise<void> {
  await write(engine, body);
  await engine.flush();
}

async function compactedFrames(engine: StorageEngine): Promise<number> {
  const before = codecs().texts.unpackedFrames;
  await engine.compact();
  return codecs().texts.unpackedFrames - before;
}

test('chunks that become one keep their frames', async () => {
  const disk = new SimulatedDisk();
  const engine = await openStorageInline(OPTIONS, { disk });
  for (let from = 0; from < 900; from += 300) await flushed(engine, lines(from, from + 300));
  const before = await scanRows(engine, 'log', FIELDS);

  const unpacked = await compactedFrames(engine);

  expect(unpacked).toBe(0);
  expect(before).toHaveLength(900);
  expect(await scanRows(engine, 'log', FIELDS)).toEqual(before);
  expect(disk.paths().filter((path) => path.endsWith('.seg'))).toHaveLength(1);
  await engine.close();
  expect((await verifyDirectory({ directory: '/data', disk })).damage).toEqual([]);
});

test('rows that come between others, nulls and other fields are encoded again', async () => {
  const disk = new SimulatedDisk();
  const engine = await openStorageInline(OPTIONS, { disk });
  await flushed(engine, lines(0, 300));
  await flushed(engine, lines(300, 600, 7));
  await flushed(engine, lines(600, 900).replaceAll(' s="', ' t="'));
  await flushed(engine, lines(900, 1200));
  await flushed(engine, 'log,h=x s="between",n=1i 1000\n');
  const before = await scanRows(engine, 'log', FIELDS);

  const unpacked = await compactedFrames(engine);

  expect(unpacked).toBeGreaterThan(0);
  expect(await scanRows(engine, 'log', FIELDS)).toEqual(before);
  await engine.close();
  expect((await verifyDirectory({ directory: '/data', disk })).damage).toEqual([]);
});

test('compaction changes no row, however chunks lie', async () => {
  const part = fc.record({
    from: fc.nat(1500),
    count: fc.integer({ min: 1, max: 2500 }),
    nullEvery: fc.constantFrom(0, 0, 0, 5),
    isOther: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 2, maxLength: 5 }), async (parts) => {
      const engine = await openStorageInline(OPTIONS, { disk: new SimulatedDisk() });
      let end = 0;
      for (const { from, count, nullEvery, isOther } of parts) {
        const start = isOther ? from : end;
        await flushed(engine, lines(start, start + count, nullEvery));
        end = Math.max(end, start + count);
      }
      const before = await scanRows(engine, 'log', FIELDS);
      await engine.compact();
      await engine.compact();

      expect(await scanRows(engine, 'log', FIELDS)).toEqual(before);
      await engine.close();
    }),
    { numRuns: 8 },
  );
});
