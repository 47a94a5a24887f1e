// Which series a line belongs to, when it is guessed from the lines before: compared with the exact
// parser.
import { parseLines } from '@tidemark/line-protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { IngestKernel } from './ingest-kernel.ts';
import type { IngestHost } from './ingest-types.ts';
import { Kernels } from './loader.ts';
import { RowBuffers } from './row-buffers.ts';
import { SeriesKeys } from './series-keys.ts';

const utf8 = new TextEncoder();
const text = new TextDecoder();
const OPTIONS = { precision: 'ns', now: 0n } as const;
const HOST: IngestHost = {
  shardFor: () => ({ id: 1, start: 0n, end: 1n << 62n }),
  fieldTypes: () => [],
};

type Opened = { readonly ingest: IngestKernel; readonly series: SeriesKeys };

function open(): Opened {
  const series = new SeriesKeys(new Kernels());
  return { series, ingest: new IngestKernel({ series, parseLine: parseLines }) };
}

/** Keys of the series of all rows, by their times. */
function write({ ingest, series }: Opened, body: string): Map<bigint, string> {
  const keys = new Map<bigint, string>();
  for (const table of ingest.parseLines(utf8.encode(body), OPTIONS, HOST).tables) {
    const { seriesIds, times } = table.copyRows(new RowBuffers());
    for (let row = 0; row < table.rowCount; row++) {
      keys.set(times[row]!, text.decode(series.key(seriesIds[row]!)));
    }
  }
  return keys;
}

function expected(body: string): Map<bigint, string> {
  const { points } = parseLines(utf8.encode(body), OPTIONS);
  const taken = points.filter(({ tags }) => tags.every(([key]) => key !== 'time'));
  return new Map(taken.map(({ time, series }) => [time, series.key]));
}

/** Lines of sections, each with a time of its own. */
function bodyOf(sections: readonly string[]): string {
  return sections.map((section, i) => `${section} f=1 ${i + 1}\n`).join('');
}

const measurement = fc.constantFrom('m', 'n', 'mm', 'x\\,y');
// Mostly of one length, so that what is not the same looks alike; and what a text must not be
// compared by.
const value = fc.constantFrom(
  '1',
  '2',
  '3',
  '4',
  '12345678901234567',
  'é',
  '\\',
  'a\\ b',
  'c\\,d',
  'e=f',
  '',
);
const key = fc.constantFrom('a', 'b', 'c', 'longer_than_sixteen_bytes', 'time', 'k\\=l', 'd');
/** Sections that mostly have the same tags and differ in a value or two. */
const sections = fc.uniqueArray(key, { maxLength: 5 }).chain((keys) =>
  fc.array(
    fc
      .tuple(measurement, fc.array(value, { minLength: keys.length, maxLength: keys.length }))
      .map(([name, values]) => [name, ...keys.map((k, i) => `${k}=${values[i]}`)].join(',')),
    { minLength: 1, maxLength: 12 },
  ),
);
/** Walks through the sections, whose tags come in an order of the walk's own. */
const walk = fc.record({
  from: fc.nat(11),
  count: fc.integer({ min: 1, max: 12 }),
  turn: fc.nat(3),
});

function turned(section: string, turn: number): string {
  if (section.includes('\\')) return section;
  const [name = '', ...tags] = section.split(',');
  const at = tags.length === 0 ? 0 : turn % tags.length;
  return [name, ...tags.slice(at), ...tags.slice(0, at)].join(',');
}

test('lines lead to the series that their tags name, in whatever order series and tags come', () => {
  const bodies = fc.array(fc.array(walk, { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 5,
  });
  const deleted = fc.array(fc.nat(11), { maxLength: 2 });
  fc.assert(
    fc.property(sections, bodies, deleted, (texts, walks, ids) => {
      const opened = open();
      for (const steps of walks) {
        const body = bodyOf(
          steps.flatMap(({ from, count, turn }) =>
            Array.from({ length: count }, (_, i) =>
              turned(texts[(from + i) % texts.length]!, turn),
            ),
          ),
        );

        expect(write(opened, body)).toEqual(expected(body));

        // A deleted series returns under another id, and its text must not lead to the former one.
        for (const id of ids) if (id < opened.series.nextId) opened.series.delete(id);
      }
    }),
    { numRuns: 60 },
  );
});

test('a deleted series is not guessed', () => {
  const opened = open();
  const body = bodyOf(['m,b=1,a=1', 'm,b=2,a=2', 'm,b=3,a=3']);
  write(opened, body);
  opened.series.delete(1);

  expect(write(opened, body)).toEqual(expected(body));

  expect(opened.series.nextId).toBe(4);
  expect(opened.series.find(utf8.encode('m,a=2,b=2'))).toBe(3);
});

test('sections of more tags than orders are remembered of are found again', () => {
  const opened = open();
  const wide = Array.from({ length: 3 }, (_, series) => {
    const tags = Array.from({ length: 100 }, (_, i) => `t${99 - i}=${series}`);
    return `m,${tags.join(',')}`;
  });
  const body = bodyOf([...wide, ...wide]);

  expect(write(opened, body)).toEqual(expected(body));
  expect(write(opened, body)).toEqual(expected(body));
  expect(opened.series.nextId).toBe(3);
});

test('more series than texts are kept of, in and out of order, have one id each', () => {
  const opened = open();
  const ids = Array.from({ length: 20_000 }, (_, i) => i);
  // A step that has no common divisor with their number visits all of them.
  const scattered = ids.map((i) => (i * 7919) % ids.length);

  for (const order of [ids, ids, ids.toReversed(), scattered, scattered]) {
    const keys = write(opened, bodyOf(order.map((i) => `m,t=${i},s=${i % 7}`)));

    const wrong = order.filter((i, at) => keys.get(BigInt(at + 1)) !== `m,s=${i % 7},t=${i}`);
    expect(wrong).toEqual([]);
  }
  expect(opened.series.nextId).toBe(ids.length);
});

test('texts do not lead to series that were taken back', () => {
  const opened = open();
  write(opened, bodyOf(['m,b=1,a=1', 'm,b=2,a=2']));
  opened.series.kernels.exports.truncateSeries(0);

  const body = bodyOf(['m,b=2,a=2', 'm,b=1,a=1', 'm,b=1,a=2']);
  expect(write(opened, body)).toEqual(expected(body));
});
