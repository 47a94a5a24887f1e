import { textsOf } from '@tidemark/core';
import { expect, test } from 'vitest';

import { PointWriter } from '../batch/point-writer.ts';
import { CountDistinctAccumulator } from './distinct.ts';
import { finishSteps } from './steps.ts';

test('a count of distinct texts keeps little of long ones, and tells those apart that differ late', () => {
  let heldBytes = 0;
  let mostBytes = 0;
  const hold = (bytes: number): void => {
    heldBytes += bytes;
    mostBytes = Math.max(mostBytes, heldBytes);
  };
  const count = new CountDistinctAccumulator({
    inputType: 'string',
    descending: false,
    random: () => 0,
    needsRow: false,
    hold,
  });
  for (let part = 0; part < 20; part++) {
    // Each part has 25 new texts, and 25 of the one before.
    const dictionary = Array.from(
      { length: 50 },
      (_, i) => `${'x'.repeat(20_000)}${part * 25 + i}`,
    );
    const codes = Uint32Array.from(dictionary.keys());
    const column = { type: 'string', codes, texts: textsOf(dictionary), valid: undefined } as const;
    count.add({ times: new BigInt64Array(50), column, columns: [column] }, 0, 50);
  }
  const out = new PointWriter('integer', []);
  const work = count.emit(undefined, out);
  if (work !== undefined) finishSteps(work);

  expect(out.take().columns[0]).toMatchObject({ values: BigInt64Array.of(525n) });
  expect(mostBytes).toBeLessThan(525 * 200);
  expect(heldBytes).toBeLessThan(mostBytes);
});
