import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PointBatch } from '../point-batch.ts';
import { PointBatchBuilder } from '../point-batch.ts';
import { packedBytes } from './batch-codec.ts';
import type { AnyRows } from './protocol.ts';
import { REMEMBERED_BYTES_MAX, RememberedBatches } from './remembered-batches.ts';
import { RowsSender } from './rows-sender.ts';

const OTHERS = { tasks: [1], due: undefined, isOurs: false };

function batchOf(name: string, textChars = 1): PointBatch {
  const fields = [['f', 'x'.repeat(textChars)]] as const;
  return new PointBatchBuilder('d', 'r').add({ name, tags: [], fields, time: 1n }).build();
}

function sent(sender: RowsSender, batch: PointBatch, isKept: boolean): AnyRows {
  const [entry] = sender.send([{ ...OTHERS, batch, isKept }]).message.entries;
  if (entry === undefined) throw new Error('each row has an entry');
  return entry;
}

test('rows that others get later are sent once, and named until the last of them has them', () => {
  const sender = new RowsSender();
  const batch = batchOf('m');

  const entries = [true, true, false, false].map((isKept) => sent(sender, batch, isKept));

  expect(entries.map((entry) => ('number' in entry ? entry.number : 'rows'))).toEqual([
    'rows',
    1,
    1,
    'rows',
  ]);
});

test('rows that are larger than what is remembered are sent each time', () => {
  const sender = new RowsSender();
  const batch = batchOf('m', REMEMBERED_BYTES_MAX + 1);

  const entries = [true, true].map((isKept) => sent(sender, batch, isKept));

  expect(entries.every((entry) => 'batch' in entry && !entry.isKept)).toBe(true);
});

test('both ends remember the same, whatever is sent in which order, within a limit', () => {
  const sizes = fc.constantFrom(1, REMEMBERED_BYTES_MAX >> 3, REMEMBERED_BYTES_MAX >> 1);
  const step = fc.record({ index: fc.nat(5), isKept: fc.boolean() });
  fc.assert(
    fc.property(fc.array(sizes, { minLength: 6, maxLength: 6 }), fc.array(step), (chars, steps) => {
      const batches = chars.map((count, i) => batchOf(`m${i}`, count));
      const sender = new RowsSender();
      const held = new Set<string>();
      const remembered = new RememberedBatches<string>((name) => held.delete(name));
      for (const { index, isKept } of steps) {
        const batch = batches[index] ?? batchOf('none');
        const entry = sent(sender, batch, isKept);
        let name = batch.series.at(0)?.name ?? '';
        if ('number' in entry) {
          name = remembered.get(entry.number);
          if (!entry.isKept) remembered.forget(entry.number);
        } else if (entry.isKept) {
          held.add(name);
          remembered.add(name, packedBytes(entry.batch));
        }
        expect(name).toBe(`m${index}`);
        const sum = [...held].reduce((all, one) => all + (chars[Number(one.slice(1))] ?? 0), 0);
        expect(sum).toBeLessThanOrEqual(REMEMBERED_BYTES_MAX);
      }
    }),
  );
});
