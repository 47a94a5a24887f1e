import fc from 'fast-check';
import { expect, test } from 'vitest';

import { PointBatchBuilder } from '../point-batch.ts';
import { rowNumber } from './row-selection.ts';
import { RowSource } from './row-source.ts';
import { SeriesTable } from './series.ts';

const names = fc.constantFrom('a', 'b', 'c');

test('the rows of some measurements are those of the write, in its order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ name: names, host: fc.constantFrom('x', 'y') }), { minLength: 1 }),
      fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd')),
      (points, chosen) => {
        const builder = new PointBatchBuilder('d', 'r');
        points.forEach(({ name, host }, i) => {
          builder.add({ name, tags: [['host', host]], fields: [['v', i]], time: BigInt(i) });
        });
        const source = new RowSource(builder.build(), new SeriesTable());

        const selection = source.select(new Set(chosen));

        const rows = Array.from({ length: selection.count }, (_, at) => rowNumber(selection, at));
        const isWanted = ({ name }: { name: string }): boolean =>
          chosen.length === 0 || chosen.some((one) => one === name);
        expect(rows).toEqual([...points.keys()].filter((row) => isWanted(points[row]!)));
      },
    ),
  );
});

test('series of a measurement have places from 0 on, those of others none', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ name: names, host: fc.constantFrom('x', 'y') }), { minLength: 1 }),
      (points) => {
        const builder = new PointBatchBuilder('d', 'r');
        for (const { name, host } of points) {
          builder.add({ name, tags: [['host', host]], fields: [['v', 1]], time: 0n });
        }
        const source = new RowSource(builder.build(), new SeriesTable());
        for (const name of ['a', 'b', 'c', 'd', '']) {
          const own = [...source.series.keys()].filter(
            (i) => name === '' || source.series[i]!.name === name,
          );
          const places = source.seriesOf(name);

          expect(places?.count ?? 0).toBe(own.length);
          const placed = [...source.series.keys()].filter(
            (i) => places !== undefined && (places.placeOf?.(i) ?? i) >= 0,
          );
          expect(placed).toEqual(own);
          expect(placed.map((i) => places?.placeOf?.(i) ?? i)).toEqual([...own.keys()]);
        }
      },
    ),
  );
});
