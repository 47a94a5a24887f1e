import { expect, test } from 'vitest';

import { Driver } from './driver.ts';
import { collectNames } from './measurement-names.ts';
import type { Operator } from './operator.ts';
import type { SchemaBatch, ShardSpan } from './series-source.ts';

type Names = SchemaBatch & { readonly kind: 'names' };

const SHARD: ShardSpan = { retentionPolicy: 'autogen', start: 0n, end: 10n };
const FIRST: Names = {
  kind: 'names',
  measurement: 'm',
  tags: ['t'],
  shards: [SHARD, { ...SHARD, start: 10n, end: 20n }],
  fields: [{ name: 'f', type: 'float', shards: [0] }],
  isSettled: true,
};
const DRIVER = new Driver({ supervision: () => undefined, monotonicMs: () => 0 });

function* each<T>(batches: readonly T[]): Operator<T> {
  yield* batches;
}

test.each<[string, Partial<Names>]>([
  ['is like it', {}],
  ['has another tag', { tags: ['u'] }],
  ['has one more tag', { tags: ['t', 'u'] }],
  ['has another field', { fields: [{ name: 'g', type: 'float', shards: [0] }] }],
  ['has another type', { fields: [{ name: 'f', type: 'integer', shards: [0] }] }],
  ['has the field in other shards', { fields: [{ name: 'f', type: 'float', shards: [1] }] }],
  ['has the field in all shards', { fields: [{ name: 'f', type: 'float' }] }],
  ['has fewer shards', { shards: [SHARD] }],
  ['has a shard of another time', { shards: [SHARD, { ...SHARD, start: 10n, end: 30n }] }],
  ['has a shard of another policy', { shards: [SHARD, { ...SHARD, retentionPolicy: 'other' }] }],
])('a measurement behind another one that %s has its own schema', async (_, difference) => {
  const second: Names = { ...FIRST, measurement: 'n', ...difference };
  const schemasOf = async (batches: readonly Names[]) => {
    const names = await DRIVER.result(collectNames('db', each(batches)));
    return [0n, 10n].map((start) => names.at(-1)?.schema('autogen', { start, end: start + 5n }));
  };

  const behind = await schemasOf([FIRST, second]);

  expect(behind).toEqual(await schemasOf([second]));
  expect(behind[0] ?? behind[1]).toMatchObject({ measurement: { measurement: 'n' } });
});
