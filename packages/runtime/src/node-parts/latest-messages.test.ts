// Messages kept in columns equal the original ones, whatever their points and however many writes
// came since.
import { textsOf } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GroupTable } from '../data/group.ts';
import { Batch, Point } from '../data/point.ts';
import { batchRow, pointRow } from '../data/rows.ts';
import type { Value, ValueType } from '../data/schema.ts';
import { columnSchema, ownSchema } from '../data/schema.ts';
import { SeriesTable } from '../data/series.ts';
import { extended } from './augment.ts';
import { LatestMessages } from './latest-messages.ts';

const own: fc.Arbitrary<readonly (readonly [ValueType, Value])[]> = fc.array(
  fc.oneof(
    fc.tuple(fc.constant('float' as const), fc.double({ noNaN: true })),
    fc.tuple(fc.constantFrom('int' as const, 'duration' as const), fc.bigInt(-5n, 2n ** 62n)),
    fc.tuple(fc.constant('boolean' as const), fc.boolean()),
    fc.tuple(fc.constant('string' as const), fc.string()),
  ),
  { maxLength: 10 },
);
const step = fc.record({
  group: fc.integer({ min: 0, max: 90 }),
  kind: fc.constantFrom('point', 'point', 'point', 'batch', 'delete', 'write', 'write', 'again'),
  own,
  hasColumns: fc.boolean(),
  value: fc.double({ noNaN: true }),
});

const rowOf = (message: Point | Batch): unknown =>
  message instanceof Batch ? batchRow(message) : pointRow(message);

test('messages are those that were set last, in order of their groups', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 120 }),
      fc.integer({ min: 1, max: 90_000 }),
      (steps, rows) => {
        const series = new SeriesTable();
        const groups = new GroupTable(series, 1000);
        const latest = new LatestMessages(groups);
        const model = new Map<number, unknown>();
        const write = { writeSequence: 1, writeRowCount: rows };
        steps.forEach(({ group: host, kind, own: values, hasColumns, value }, i) => {
          const tags = series.of('m', [['host', `h${host}`]]);
          const group = groups.of(tags, { isByName: false, tagNames: ['host'] })!;
          if (kind === 'write') write.writeSequence++;
          else if (kind === 'again') write.writeSequence = Math.max(1, write.writeSequence - 1);
          else if (kind === 'delete') {
            latest.delete(group);
            model.delete(host);
          } else {
            const point = pointOf({
              tags,
              group,
              values,
              value,
              isOfWrite: hasColumns,
              time: BigInt(i),
            });
            const message = kind === 'batch' ? new Batch(tags, group, point.time, [point]) : point;
            latest.set(group, message, write);
            // Points of a write change when they are detached; what they say does not.
            model.set(host, rowOf(message));
          }
        });
        expect(latest.messages().map(rowOf)).toEqual([...model.values()]);
        expect(latest.count).toBe(model.size);

        const restored = new LatestMessages(groups);
        for (const { group, order, message } of latest.entries().toReversed()) {
          restored.restore(group, order, message);
        }
        expect(restored.messages().map(rowOf)).toEqual([...model.values()]);
      },
    ),
  );
});

type Made = {
  readonly tags: Point['series'];
  readonly group: Point['group'];
  readonly values: readonly (readonly [ValueType, Value])[];
  readonly value: number;
  readonly isOfWrite: boolean;
  readonly time: bigint;
};

/** A point with a column of its write and values that nodes have added, or with its own alone. */
function pointOf({ tags, group, values, value, isOfWrite, time }: Made): Point {
  const added = values.map(([type], i) => ({ name: `f${i}`, type }));
  const base = { time, series: tags, group, own: values.map(([, each]) => each) };
  if (!isOfWrite) return Point.of({ ...base, schema: ownSchema(added) });
  const schema = columnSchema([{ name: 'c', type: 'float' }]);
  const point = Point.of({
    ...base,
    schema: added.length === 0 ? schema : extended(schema, added),
  });
  point.rows = { columns: [Float64Array.of(0, value)] };
  point.row = 1;
  return point;
}

test('rows of writes that went by long ago stay what they were', () => {
  const write = fc.record({
    from: fc.nat(60),
    count: fc.integer({ min: 1, max: 60 }),
    value: fc.float({ noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(write, { minLength: 20, maxLength: 60 }), (writes) => {
      const series = new SeriesTable();
      const groups = new GroupTable(series, 1000);
      const latest = new LatestMessages(groups);
      const model = new Map<string, unknown>();
      writes.forEach(({ from, count, value }, w) => {
        const schema = columnSchema([
          { name: 'f', type: 'float' },
          { name: 'i', type: 'int' },
          { name: 'b', type: 'boolean' },
          { name: 's', type: 'string' },
        ]);
        const rows = {
          columns: [
            Float64Array.from({ length: count }, (_, row) => value + row),
            BigInt64Array.from({ length: count }, (_, row) => BigInt(w * 100 + row)),
            Uint8Array.from({ length: count }, (_, row) => (row + w) % 2),
            {
              codes: Uint32Array.from({ length: count }, (_, row) => row % 3),
              texts: textsOf(['x', 'y', 'z'].map((text) => `${text}${w}`)),
              strings: [],
            },
          ],
        };
        for (let row = 0; row < count; row++) {
          const tags = series.of('m', [['host', `h${(from + row) % 100}`]]);
          const group = groups.of(tags, { isByName: false, tagNames: ['host'] })!;
          const point = Point.of({ time: BigInt(w), series: tags, group, schema });
          point.rows = rows;
          point.row = row;
          latest.set(group, point, { writeSequence: w + 1, writeRowCount: 60_000 });
          model.set(group.id, rowOf(point));
        }
      });

      expect(latest.messages().map(rowOf)).toEqual([...model.values()]);
    }),
    { numRuns: 30 },
  );
});

test('a write that comes in slices with timers between them is kept once', () => {
  const series = new SeriesTable();
  const groups = new GroupTable(series, 1000);
  const latest = new LatestMessages(groups);
  const tags = series.of('m', [['host', 'h']]);
  const group = groups.of(tags, { isByName: false, tagNames: ['host'] })!;
  const point = pointOf({ tags, group, values: [], value: 1, isOfWrite: true, time: 1n });

  for (let slice = 0; slice < 200; slice++) {
    latest.set(group, point, { writeSequence: 1, writeRowCount: 5000 });
    latest.set(group, point, { writeSequence: 2 + slice, writeRowCount: 0 });
    latest.set(group, point, { writeSequence: 1, writeRowCount: 5000 });
  }

  expect((latest.messages()[0] as Point).rows).toBe(point.rows);
});
