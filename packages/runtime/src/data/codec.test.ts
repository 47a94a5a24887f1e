import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePoints, encodePoint, encodePoints } from './codec.ts';
import { GroupTable } from './group.ts';
import { Point } from './point.ts';
import type { Value, ValueType } from './schema.ts';
import { ownSchema } from './schema.ts';
import { SeriesTable } from './series.ts';

function tables(): { groups: GroupTable; series: SeriesTable } {
  const series = new SeriesTable();
  return { groups: new GroupTable(series, 100), series };
}

type Fields = readonly (readonly [name: string, type: ValueType, value: Value])[];

function pointOf(
  { groups, series }: ReturnType<typeof tables>,
  { host, time, fields }: { host: string; time: bigint; fields: Fields },
): Point {
  const group = groups.named(`host=${host}`, { isByName: false, tagNames: ['host'] }, [host]);
  if (group === undefined) throw new Error('there is room for the group');
  return Point.of({
    time,
    group,
    series: series.intern({ name: 'm', tagKeys: ['host'], tagValues: [host] }),
    schema: ownSchema(fields.map(([name, type]) => ({ name, type }))),
    own: fields.map(([, , value]) => value),
    origin: { database: 'd', retentionPolicy: `r${host}` },
  });
}

const name = fc.constantFrom('a', 'b', 'c');
const fields = fc.uniqueArray(
  fc.oneof(
    fc.tuple(name, fc.constant('float' as const), fc.double()),
    fc.tuple(name, fc.constantFrom('int', 'time', 'duration'), fc.bigInt({ min: -9n, max: 9n })),
    fc.tuple(name, fc.constant('string' as const), fc.string()),
    fc.tuple(name, fc.constant('boolean' as const), fc.boolean()),
  ),
  { selector: ([one]) => one },
);
const point = fc.record({
  host: fc.constantFrom('x', 'y'),
  time: fc.bigInt({ min: 0n, max: 99n }),
  fields,
});

test('points come back as they were, in their order, from states of this and of earlier builds', () => {
  fc.assert(
    fc.property(fc.array(point), (all) => {
      const before = tables();
      const points = all.map((one) => pointOf(before, one));

      for (const code of [encodePoints(points), points.map(encodePoint)]) {
        const read = decodePoints(tables(), deserialize(serialize(code)) as typeof code);

        expect(read.map(encodePoint)).toEqual(points.map(encodePoint));
      }
    }),
  );
});

test('points of one series take in a state little more than their values', () => {
  const fields = Array.from({ length: 10 }, (_, i) => [`f${i}`, 'float', i / 3] as const);
  const all = tables();
  const points = Array.from({ length: 1000 }, (_, i) =>
    pointOf(all, { host: 'x', time: BigInt(i), fields }),
  );

  expect(serialize(encodePoints(points)).length / points.length).toBeLessThan(110);
});
