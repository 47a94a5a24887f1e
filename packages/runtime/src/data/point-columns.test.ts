// Points in columns are those that were appended: whatever their shapes, and whatever comes and
// goes meanwhile.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GroupTable, NO_DIMENSIONS } from './group.ts';
import { encodePoint } from './codec.ts';
import { Batch, Point } from './point.ts';
import { PointColumns } from './point-columns.ts';
import { LayoutCache } from './point-layout.ts';
import type { Value, ValueType } from './schema.ts';
import { columnSchema, ownSchema } from './schema.ts';
import { SeriesTable } from './series.ts';

const table = new SeriesTable();
const group = new GroupTable(table, 10).named('', NO_DIMENSIONS, [])!;
const ORIGINS = [
  { database: 'd', retentionPolicy: 'r' },
  { database: 'e', retentionPolicy: 'r' },
];

const VALUES: Readonly<Record<string, fc.Arbitrary<Value>>> = {
  float: fc.double(),
  int: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  duration: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  boolean: fc.boolean(),
  string: fc.string(),
  null: fc.constant(null),
};

type Fields = readonly (readonly [name: string, type: ValueType, value: Value])[];

const fields = (types: readonly ValueType[]): fc.Arbitrary<Fields> =>
  fc
    .tuple(...types.map((type) => VALUES[type]!))
    .map((values) => types.map((type, i) => [`f${i}`, type, values[i]!] as const));

/** Most points have the shape of the last one. */
const SHAPES: readonly (readonly ValueType[])[] = [
  ['float', 'float', 'float'],
  ['float', 'float', 'float'],
  ['float', 'int', 'boolean', 'string', 'null', 'duration'],
  ['string'],
  [],
];

const pointOf = fc
  .record({
    time: fc.bigInt({ min: -20n, max: 20n }),
    tag: fc.constantFrom('a', 'b'),
    origin: fc.constantFrom(0, 0, 0, 1),
    values: fc.oneof(...SHAPES.map(fields)),
    isRow: fc.boolean(),
  })
  .map(({ time, tag, origin, values, isRow }) => {
    const series = table.of('m', [['h', tag]]);
    const types = values.map(([name, type]) => ({ name, type }));
    const of = { time, series, group, origin: ORIGINS[origin]! };
    const areFloats = values.every(([, type]) => type === 'float');
    if (!isRow || !areFloats) {
      return Point.of({ ...of, schema: ownSchema(types), own: values.map(([, , value]) => value) });
    }
    const columns = values.map(([, , value]) => Float64Array.of(0, value as number));
    return new Point(time, series, group, columnSchema(types), { columns }, 1, [], of.origin);
  });

const step = fc.oneof(
  { weight: 8, arbitrary: pointOf.map((point) => ({ kind: 'append' as const, point })) },
  { weight: 1, arbitrary: fc.nat(4).map((count) => ({ kind: 'first' as const, count })) },
  {
    weight: 1,
    arbitrary: fc
      .bigInt({ min: -25n, max: 25n })
      .map((time) => ({ kind: 'before' as const, time })),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'keep' as const }, { kind: 'read' as const }) },
);

test('the points of a window are those that were appended and not removed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(40), (steps, most) => {
      let held = 0;
      const holder = {
        holdRow: (): boolean => held < most && ++held > 0,
        releaseRows: (count: number): void => {
          held -= count;
        },
      };
      const columns = new PointColumns(holder, new LayoutCache(() => undefined));
      let model: Point[] = [];
      const kept: { readonly batch: Batch; readonly expected: unknown }[] = [];
      for (const one of steps) {
        if (one.kind === 'append') {
          const hasRoom = model.length < most;
          expect(columns.append(one.point)).toBe(hasRoom);
          if (hasRoom) model.push(one.point);
        } else if (one.kind === 'first') {
          columns.dropFirst(one.count);
          model = model.slice(one.count);
        } else if (one.kind === 'before') {
          columns.dropBefore(one.time);
          const first = model.findIndex(({ time }) => time >= one.time);
          model = first < 0 ? [] : model.slice(first);
        } else {
          const rows = columns.rows(group);
          for (const field of rows.schema?.fields ?? []) {
            expect(rows.valuesOf(field)).toEqual(
              model.map((point) => point.fieldValue(field.name)),
            );
            if (field.type !== 'float') continue;
            const floats = new Float64Array(rows.count);
            rows.copyFloats(field, floats);
            expect([...floats]).toEqual(rows.valuesOf(field));
          }
          const batch = new Batch(table.of('m', []), group, 0n, rows);
          if (one.kind === 'keep') batch.keep();
          else expect(batch.points).toHaveLength(model.length);
          kept.push({ batch, expected: model.map(encodePoint) });
        }
        expect([columns.count, held]).toEqual([model.length, model.length]);
      }
      expect(columns.rows(group).points().map(encodePoint)).toEqual(model.map(encodePoint));
      for (const { batch, expected } of kept) {
        expect(batch.points.map(encodePoint)).toEqual(expected);
        for (const point of batch.points) point.detach();
        expect(batch.points.map(encodePoint)).toEqual(expected);
      }
      columns.clear();
      expect([columns.count, held]).toEqual([0, 0]);
    }),
    { numRuns: 400 },
  );
});
