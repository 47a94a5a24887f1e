import { columnValue, fieldTypeOf, textAt } from '@tidemark/core';
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import { lineErrorMessage, parseLines } from '@tidemark/line-protocol';
import { lineBody, lineNumber, steadyLineBody } from '@tidemark/testkit';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Codecs } from './codecs.ts';
import { IngestKernel } from './ingest-kernel.ts';
import type { IngestOptions } from './ingest-kernel.ts';
import type { Batch, IngestHost, IngestShard } from './ingest-types.ts';
import { RowBuffers } from './row-buffers.ts';
import { Kernels } from './loader.ts';
import { SeriesKeys } from './series-keys.ts';
import type { StagedTable } from './staged-table.ts';

const NOW = 1_600_000_000_123_456_789n;
const WEEK = 604_800_000_000_000n;
const utf8 = new TextEncoder();
const text = new TextDecoder();

type Opened = { readonly ingest: IngestKernel; readonly series: SeriesKeys };

function open(options: Partial<IngestOptions> = {}): Opened {
  const series = new SeriesKeys(new Kernels());
  const ingest = new IngestKernel({
    series,
    parseLine: (line, how) => parseLines(line, { ...how, allowUnsigned: true }),
    ...options,
  });
  return { ingest, series };
}

function shardOf(time: bigint): IngestShard {
  const start = (time / WEEK - (time < 0n && time % WEEK !== 0n ? 1n : 0n)) * WEEK;
  const id = Number(start / WEEK) + 1_000_000;
  return { id, start, end: start + WEEK };
}

function hostWith(parts: Partial<IngestHost> = {}): IngestHost {
  return { shardFor: shardOf, fieldTypes: () => [], ...parts };
}

function write({ ingest }: Opened, body: string, host = hostWith()): Batch {
  return ingest.parseLines(utf8.encode(body), { precision: 'ns', now: NOW }, host);
}

type Row = { readonly [field: string]: FieldValue };
/** shard/key/time -> fields. */
type Contents = Map<string, Row>;

/** Adds what a batch holds: rows come in arrival order, the last write of a field wins. */
function addContents({ series }: Opened, batch: Batch, contents: Contents): void {
  for (const table of batch.tables) {
    const rows = table.copyRows(new RowBuffers());
    for (let row = 0; row < table.rowCount; row++) {
      const key = text.decode(series.key(rows.seriesIds[row]!));
      const place = `${table.shardId}/${key}/${rows.times[row]}`;
      contents.set(place, { ...contents.get(place), ...valuesOf(table, rows.columns, row) });
    }
  }
}

function valuesOf(table: StagedTable, columns: readonly Column[], row: number): Row {
  const values: Record<string, FieldValue> = {};
  table.fields.forEach(({ name }, c) => {
    const value = columnValue(columns[c]!, row);
    if (value !== null) values[name] = value;
  });
  return values;
}

function contentsOf(opened: Opened, batch: Batch): Contents {
  const contents: Contents = new Map();
  addContents(opened, batch, contents);
  return contents;
}

/** The meaning of the same bodies, computed point by point by the exact parser. */
class Model {
  readonly contents: Contents = new Map();
  readonly types = new Map<string, FieldType>();
  errors: string[] = [];
  dropped = 0;
  written = 0;

  write(body: Uint8Array, precision: 'ns' | 's' | 'h'): void {
    const parsed = parseLines(body, { precision, now: NOW, allowUnsigned: true });
    this.errors = parsed.errors.map(lineErrorMessage);
    this.dropped = 0;
    this.written = 0;
    for (const point of parsed.points) {
      const fields = point.fields.filter(([name]) => name !== 'time');
      if (fields.length === 0 || point.tags.some(([key]) => key === 'time')) {
        this.dropped++;
        continue;
      }
      const shard = shardOf(point.time);
      const seen = new Map<string, FieldType>();
      const fits = fields.every(([name, value]) => {
        const type = fieldTypeOf(value);
        const id = `${shard.id}/${point.measurement}/${name}`;
        const known = this.types.get(id) ?? seen.get(id) ?? type;
        seen.set(id, known);
        return known === type;
      });
      if (!fits) {
        this.dropped++;
        continue;
      }
      for (const [id, type] of seen) this.types.set(id, type);
      this.written++;
      const place = `${shard.id}/${point.series.key}/${point.time}`;
      const row: Record<string, FieldValue> = { ...this.contents.get(place) };
      for (const [name, value] of fields) {
        row[name] = typeof value === 'object' ? value.unsigned : value;
      }
      this.contents.set(place, row);
    }
  }
}

describe('a body means what the exact parser says', () => {
  test('points, merged fields, errors and refusals, over several bodies', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.oneof(lineBody, steadyLineBody),
            fc.constantFrom('ns' as const, 's' as const, 'h' as const),
          ),
          { minLength: 1, maxLength: 4 },
        ),
        (bodies) => {
          const opened = open();
          const contents: Contents = new Map();
          const model = new Model();
          for (const [content, precision] of bodies) {
            const bytes = utf8.encode(content);
            const batch = opened.ingest.parseLines(bytes, { precision, now: NOW }, hostWith());
            addContents(opened, batch, contents);
            model.write(bytes, precision);

            expect(batch.parseErrors).toEqual(model.errors);
            expect(batch.dropped?.count ?? 0).toBe(model.dropped);
            expect(batch.pointsWritten).toBe(model.written);
            expect(batch.consumedBytes).toBe(bytes.length);
          }
          expect(contents).toEqual(model.contents);
        },
      ),
      { numRuns: 120 },
    );
  });

  test('floats are rounded as JavaScript rounds them', () => {
    const opened = open();
    fc.assert(
      fc.property(
        fc.array(
          lineNumber.filter((n) => Number.isFinite(Number(n))),
          { minLength: 1, maxLength: 50 },
        ),
        (numbers) => {
          const batch = write(opened, numbers.map((n, i) => `m f=${n} ${i}`).join('\n'));

          const column = batch.tables[0]!.copyRows(new RowBuffers()).columns[0]!;
          expect(numbers.map((_, i) => columnValue(column, i))).toEqual(numbers.map(Number));
        },
      ),
      { numRuns: 500 },
    );
  });
});

/**
 * Rows are encoded as they came; copies of them lie by series where that costs little, those of a
 * series as they came.
 */
function orderOfCopy(encodedIds: readonly number[], copiedIds: Uint32Array): readonly number[] {
  const order = [...encodedIds.keys()];
  if (encodedIds.every((id, row) => id === copiedIds[row])) return order;
  return order.sort((a, b) => encodedIds[a]! - encodedIds[b]!);
}

describe('batches', () => {
  test('the blocks of a table decode to its rows', () => {
    const codecs = new Codecs();
    fc.assert(
      fc.property(fc.array(lineBody, { minLength: 1, maxLength: 3 }), (bodies) => {
        const opened = open();
        for (const content of bodies) {
          for (const table of write(opened, content).tables) {
            const rows = table.copyRows(new RowBuffers());

            const range = { from: 0, to: table.rowCount };
            const ids = Array.from(
              codecs.decodeIntegers(table.encodeSeriesIds(range).slice()),
              Number,
            );
            const order = orderOfCopy(ids, rows.seriesIds);
            const inOrder = <T>(values: Iterable<T>): T[] => {
              const all = [...values];
              return order.map((row) => all[row]!);
            };
            expect(inOrder(ids)).toEqual([...rows.seriesIds]);
            const times = codecs.decodeTimes(table.encodeTimes(range).slice());
            expect(inOrder(times)).toEqual([...rows.times]);
            table.fields.forEach((field, c) => {
              const column = rows.columns[c]!;
              const valid =
                field.valid === 0
                  ? undefined
                  : codecs.decodeValidity(table.encodeValidity(field).slice());
              const block = table.encodeValues(field).slice();
              const decoded = codecs.decodeColumn(field.type, block, valid);
              for (let row = 0; row < table.rowCount; row++) {
                expect(columnValue(decoded, order[row]!)).toEqual(columnValue(column, row));
              }
            });
          }
        }
      }),
      { numRuns: 100, examples: [[['m f=1 1', 'm,a=v g=t 1\nm h="" 1']]] },
    );
  });

  test('a field that only some rows have is null in the others, batch after batch', () => {
    const opened = open();
    const present = (batch: Batch): unknown => {
      const [table] = batch.tables;
      const { columns } = table!.copyRows(new RowBuffers());
      return Object.fromEntries(
        table!.fields.map(({ name }, c) => [
          name,
          Array.from({ length: table!.rowCount }, (_, row) => columnValue(columns[c]!, row)),
        ]),
      );
    };

    const first = 'm a=1 1\nm b=2i,a=3 2\nm s="x" 3\nm a=4,a=5 4';
    expect(present(write(opened, first))).toEqual({
      a: [1, 3, null, 5],
      b: [null, 2n, null, null],
      s: [null, null, 'x', null],
    });
    expect(present(write(opened, 'm b=7i 1\nm b=8i 2'))).toEqual({ b: [7n, 8n] });
    const long = Array.from(
      { length: 500 },
      (_, i) => `m a=${i}${i === 300 ? ',t=true' : ''} ${i}`,
    );
    const flags = Array.from({ length: 500 }, (_, i) => (i === 300 ? true : null));
    expect(present(write(opened, long.join('\n')))).toMatchObject({ t: flags });
  });

  test('a batch ends early at the memory limit and goes on where it stopped', () => {
    const opened = open({ batchBytesMax: 200_000 });
    const bytes = utf8.encode(
      Array.from({ length: 20_000 }, (_, i) => `m,t=${i % 10} f=${i}i ${i}`).join('\n'),
    );
    const contents: Contents = new Map();
    let from = 0;
    let points = 0;
    let rounds = 0;
    while (from < bytes.length) {
      const options = { precision: 'ns', now: NOW, from } as const;
      const batch = opened.ingest.parseLines(bytes, options, hostWith());
      addContents(opened, batch, contents);
      points += batch.pointsWritten;
      from = batch.consumedBytes;
      rounds++;
    }

    expect(points).toBe(20_000);
    expect(rounds).toBeGreaterThan(1);
    expect(contents.size).toBe(20_000);
  });

  test('a batch ends after work of some milliseconds: values, lines, and above all lines that the fast path cannot read', () => {
    const opened = open();
    // To hundreds: what the host is asked counts too.
    const rowsOf = (line: string): number => {
      const batch = write(opened, `${line}\n`.repeat(50_000));
      return Math.round(batch.consumedBytes / (line.length + 1) / 100) * 100;
    };
    const wide = Array.from({ length: 10 }, (_, i) => `f${i}=${i}i`).join(',');

    expect(rowsOf(`m ${wide} 1`)).toBe(11_400);
    expect(rowsOf('m f=1i 1')).toBe(32_000);
    expect(rowsOf('rubbish')).toBe(1000);
  });

  // A column has room for as many rows as its table: of thousands of them, mostly empty, doubling
  // the rows once took a hundred megabytes, which linear memory never gives back.
  test('thousands of new field names take no more than a batch may hold', () => {
    const kernels = new Kernels();
    const series = new SeriesKeys(kernels);
    const ingest = new IngestKernel({ series, parseLine: parseLines });
    const written = new Map<string, bigint>();
    const types = new Map<string, FieldType>();
    const host = hostWith({ fieldTypes: () => types });
    for (let first = 0; first < 10_000; first += 5000) {
      const lines = Array.from({ length: 5000 }, (_, i) => `m f${first + i}=1i ${first + i}`);
      const body = utf8.encode(lines.join('\n'));
      for (let from = 0; from < body.length;) {
        const batch = ingest.parseLines(body, { precision: 'ns', now: NOW, from }, host);
        for (const table of batch.tables) {
          const rows = table.copyRows(new RowBuffers());
          table.fields.forEach(({ name }, c) => {
            for (let row = 0; row < table.rowCount; row++) {
              if (columnValue(rows.columns[c]!, row) !== null) written.set(name, rows.times[row]!);
            }
          });
        }
        for (const { field, type } of batch.newFields) types.set(field, type);
        expect(ingest.batchBytes).toBeLessThan(34 << 20);
        from = batch.consumedBytes;
      }
      ingest.forgetTypes();
    }

    expect(kernels.memoryBytes).toBeLessThan(64 << 20);
    expect(written.size).toBe(10_000);
    for (const [name, time] of written) expect(name).toBe(`f${time}`);
  });

  test('many fields of one line are taken whatever rows the table had room for', () => {
    const opened = open();
    const narrow = Array.from({ length: 3000 }, (_, i) => `m f=${i}i ${i}`).join('\n');
    write(opened, narrow);

    const wide = Array.from({ length: 20_000 }, (_, i) => `g${i}=1i`).join(',');
    const batch = write(opened, `m ${wide} 1`);

    expect(batch.pointsWritten).toBe(1);
    expect(batch.newFields).toHaveLength(20_000);
    expect(opened.ingest.batchBytes).toBeLessThan(34 << 20);
  });

  test('tables of a large batch are not kept', () => {
    const opened = open();
    // Each measurement brings a field of its own: rows are as wide as there are fields.
    const line = (i: number): string => `m f${i % 200}=1 ${i}`;
    write(opened, Array.from({ length: 20_000 }, (_, i) => line(i)).join('\n'));
    expect(opened.ingest.batchBytes).toBeGreaterThan(8 << 20);

    write(opened, 'm a=1 1');

    expect(opened.ingest.batchBytes).toBeLessThan(1 << 20);
  });
});

describe('refusals', () => {
  test('the first value decides the type of a field, later conflicting points are dropped whole', () => {
    const opened = open();

    const batch = write(opened, 'm f=1 1\nm f=2i,g=1 2\nm f=3 3\nm g="x" 4');

    expect(batch.dropped).toEqual({
      count: 1,
      reason:
        'field type conflict: input field f on measurement m is type int64, already exists as type float',
    });
    expect(batch.newFields.map((f) => [f.field, f.type])).toEqual([
      ['f', 'float'],
      ['g', 'string'],
    ]);
  });

  test('types that the shard already has are asked for once, and hold', () => {
    const opened = open();
    const asked: string[] = [];
    const host = hostWith({
      fieldTypes: (shardId, m) => {
        asked.push(`${shardId}/${m}`);
        return [['f', 'integer']];
      },
    });

    const batch = write(opened, 'm f=1 1\nm f=2i 2\nm f=3i 3', host);

    expect(batch.dropped?.count).toBe(1);
    expect(batch.pointsWritten).toBe(2);
    expect(asked).toEqual([`${shardOf(1n).id}/m`]);
    expect(batch.newFields).toEqual([]);
    write(opened, 'm f=4i 4', host);
    expect(asked).toHaveLength(1);
    opened.ingest.forgetTypes();
    write(opened, 'm f=5i 5', host);
    expect(asked).toHaveLength(2);
  });

  test('a new series can be refused, points of known ones go on', () => {
    const opened = open();
    write(opened, 'm,t=a f=1 1');
    const refused: string[] = [];
    const host = hostWith({
      admitSeries: (key) => {
        refused.push(text.decode(key));
        return 'max-series-per-database limit exceeded: (1)';
      },
    });

    const batch = write(opened, 'm,t=b f=1 1\nm,t=a f=2 2\nm,t=b f=1 2\nm,time=1 f=1', host);

    expect(batch.dropped).toEqual({
      count: 3,
      reason: 'max-series-per-database limit exceeded: (1)',
    });
    expect(refused).toEqual(['m,t=b', 'm,t=b']);
    expect(batch.pointsWritten).toBe(1);
    expect(opened.series.nextId).toBe(1);
  });

  test('one answer lets so many other series of the batch in, and of that batch only', () => {
    const opened = open();
    const asked: string[] = [];
    const host = hostWith({
      admitSeries: (key) => {
        asked.push(text.decode(key));
        return asked.length === 1 ? 2 : asked.length === 2 ? 'full' : 0;
      },
    });

    const batch = write(opened, 'm,t=a f=1\nm,t=a f=2\nm,t=b f=1\nm,t=c f=1\nm,t=d f=1', host);
    write(opened, 'm,t=a f=3\nm,t=e f=1\nm,t=f f=1', host);

    expect(batch.newSeriesCount).toBe(3);
    expect(batch.dropped).toEqual({ count: 1, reason: 'full' });
    expect(asked).toEqual(['m,t=a', 'm,t=d', 'm,t=e', 'm,t=f']);
  });

  test('points before the oldest accepted time are counted as beyond retention', () => {
    const opened = open();
    const host = hostWith({ oldestAccepted: 10n });

    const batch = write(opened, 'm f=1 1\nm f=2 20\nm f=3 3', host);

    expect(batch.dropped).toEqual({ count: 2, reason: 'points beyond retention policy' });
    expect(batch.pointsWritten).toBe(1);
  });

  test('points after the newest accepted time are counted likewise, the limits themselves are in', () => {
    const opened = open();
    const host = hostWith({ oldestAccepted: 10n, newestAccepted: 20n });

    const batch = write(opened, 'm f=1 15\nm f=2 21\nm f=3 20\nm f=4 10\nm f=5 9', host);

    expect(batch.dropped).toEqual({ count: 2, reason: 'points beyond retention policy' });
    expect(batch.pointsWritten).toBe(3);
  });

  test('rejected lines are listed with their numbers when asked for', () => {
    const opened = open();
    const content = '# head\nm f=1 1\nbad\n\nm f=2i 2\nm s="a\nb" 3\nalso,bad';

    const batch = opened.ingest.parseLines(
      utf8.encode(content),
      { precision: 'ns', now: NOW, isDetailed: true },
      hostWith(),
    );

    expect(batch.rejectedLines.map((l) => [l.lineNumber, l.text])).toEqual([
      [3, 'bad'],
      [5, 'm f=2i 2'],
      [8, 'also,bad'],
    ]);
    expect(batch.parseErrors).toEqual([
      "unable to parse 'bad': missing fields",
      "unable to parse 'also,bad': missing tag value",
    ]);
  });

  test('a field named time is left out, alone it refuses the point', () => {
    const opened = open();

    const batch = write(opened, 'm time=3,f=1 1\nm time=3 2');

    expect(batch.pointsWritten).toBe(1);
    expect(batch.dropped?.reason).toBe(
      'invalid field name: input field "time" on measurement "m" is invalid',
    );
  });
});

describe('series', () => {
  test('one series whatever the order of its tags', () => {
    const opened = open();

    const batch = write(opened, 'm,b=2,a=1 f=1 1\nm,a=1,b=2 f=2 2\nm,b=2,a=1 f=3 3');

    expect(batch.newSeriesCount).toBe(1);
    expect(text.decode(opened.series.key(batch.firstSeriesId))).toBe('m,a=1,b=2');
  });

  test('series of a refused point are not created', () => {
    const opened = open();

    const batch = write(opened, 'm,t=a f=1 1\nm,t=b f=2i 2\nm,t=a f=3 3');

    expect(batch.dropped?.count).toBe(1);
    expect(opened.series.nextId).toBe(1);
    expect(opened.series.find(utf8.encode('m,t=b'))).toBe(-1);
  });
});

test('points that are values are written like lines', () => {
  const opened = open();
  const batch = opened.ingest.appendPoints(
    [
      {
        measurement: 'my mea,sure',
        tags: [
          ['b', 'x y'],
          ['a', '1'],
        ],
        fields: [
          ['f', -0],
          ['i', -5n],
          ['u', { unsigned: 2n ** 64n - 1n }],
          ['s', 'é "x"'],
          ['b', true],
        ],
        time: -1n,
      },
      { measurement: 'm', tags: [['time', 'x']], fields: [['f', 1]], time: 1n },
    ],
    hostWith(),
  );

  expect(batch.dropped?.count).toBe(1);
  expect(batch.valuesWritten).toBe(5);
  expect(contentsOf(opened, batch)).toEqual(
    new Map([
      [
        `${shardOf(-1n).id}/my\\ mea\\,sure,a=1,b=x\\ y/-1`,
        { f: -0, i: -5n, u: 2n ** 64n - 1n, s: 'é "x"', b: true },
      ],
    ]),
  );
});

describe('rows of a batch', () => {
  test('come by series, those of one in arrival order, whatever their columns', () => {
    const opened = open();
    const hosts = ['c', 'a', 'b'];
    const lines = Array.from({ length: 300 }, (_, i) => {
      const optional = i % 4 === 0 ? `,s="t${i}",b=true` : '';
      return `m,h=${hosts[i % 3]} f=${i},i=${i}i${optional} ${1000 - i}`;
    });

    const rows = write(opened, lines.join('\n')).tables[0]!.copyRows(new RowBuffers());
    const columns = rows.columns.map((column) =>
      Array.from(rows.times, (_, row) => {
        if (column.valid?.[row] === 0) return null;
        if (column.type === 'string') return textAt(column.texts, column.codes[row]!);
        return Number(column.values[row]);
      }),
    );

    const wanted = [0, 1, 2].flatMap((host) => Array.from({ length: 100 }, (_, i) => 3 * i + host));
    expect([...rows.seriesIds]).toEqual(wanted.map((i) => rows.seriesIds[0]! + (i % 3)));
    expect([...rows.times]).toEqual(wanted.map((i) => BigInt(1000 - i)));
    expect(columns).toEqual([
      wanted,
      wanted,
      wanted.map((i) => (i % 4 === 0 ? `t${i}` : null)),
      wanted.map((i) => (i % 4 === 0 ? 1 : null)),
    ]);
  });

  test('keep the order in which they came when their series lie far apart', () => {
    const opened = open();
    write(opened, Array.from({ length: 1000 }, (_, i) => `m,h=${i} f=1 1`).join('\n'));

    const rows = write(opened, 'm,h=999 f=1 2\nm,h=0 f=2 2\nm,h=999 f=3 3').tables[0]!.copyRows(
      new RowBuffers(),
    );

    expect([...rows.times]).toEqual([2n, 2n, 3n]);
    expect(rows.seriesIds[0]).toBe(rows.seriesIds[2]);
    expect(rows.columns[0]).toMatchObject({ values: Float64Array.of(1, 2, 3) });
  });
});
