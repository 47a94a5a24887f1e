import { columnValue } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import { lineErrorMessage, parseLines } from '@tidemark/line-protocol';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CodecError } from './codec-error.ts';
import { IngestKernel } from './ingest-kernel.ts';
import type { Batch, IngestHost, IngestShard } from './ingest-types.ts';

const NOW = 1_600_000_000_123_456_789n;
const WEEK = 604_800_000_000_000n;
const utf8 = new TextEncoder();
const text = new TextDecoder();

function open(): IngestKernel {
  return new IngestKernel({
    parseLine: (line, options) => parseLines(line, { ...options, allowUnsigned: true }),
  });
}

function shardOf(time: bigint): IngestShard {
  const start = (time / WEEK - (time < 0n && time % WEEK !== 0n ? 1n : 0n)) * WEEK;
  const id = Number(start / WEEK) + 1_000_000;
  return { id, start, end: start + WEEK };
}

function hostWith(parts: Partial<IngestHost> = {}): IngestHost {
  return { shardFor: shardOf, fieldTypes: () => [], ...parts };
}

function write(ingest: IngestKernel, body: string, host = hostWith()): Batch {
  return ingest.parseLines(utf8.encode(body), { precision: 'ns', now: NOW }, host);
}

type Row = { readonly [field: string]: FieldValue };
/** shard/key/time -> fields. */
type Contents = Map<string, Row>;

/** Everything that an ingest holds in its active memtables. */
function contentsOf(ingest: IngestKernel, shardIds: Iterable<number>): Contents {
  const contents: Contents = new Map();
  for (const shardId of shardIds) {
    const memtable = ingest.activeMemtable(shardId);
    if (memtable === undefined) continue;
    for (const { table, fields } of ingest.tables(memtable)) {
      const rows = ingest.read(table);
      for (let s = 0; s < rows.seriesIds.length; s++) {
        const key = text.decode(ingest.seriesKey(rows.seriesIds[s]!));
        for (let row = rows.rowStarts[s]!; row < rows.rowStarts[s + 1]!; row++) {
          const values: Record<string, FieldValue> = {};
          fields.forEach(({ name }, c) => {
            const value = columnValue(rows.columns[c]!, row);
            if (value !== null) values[name] = value;
          });
          contents.set(`${shardId}/${key}/${rows.times[row]}`, values);
        }
      }
    }
  }
  return contents;
}

/** What the same bodies mean, worked out one point at a time from the exact parser. */
class Model {
  readonly contents: Contents = new Map();
  readonly types = new Map<string, FieldType>();
  readonly shardIds = new Set<number>();
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
        const type = typeOf(value);
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
      this.shardIds.add(shard.id);
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

function typeOf(value: FieldValue | { readonly unsigned: bigint }): FieldType {
  if (typeof value === 'object') return 'unsigned';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return 'float';
  return typeof value === 'string' ? 'string' : 'boolean';
}

// Bodies out of pieces that are mostly right and sometimes nasty.
const name = fc.constantFrom(
  'a',
  'b',
  'usage_user',
  'host',
  'ünï',
  'time',
  'x\\ y',
  'k\\=v',
  'q"t',
  'c\\,d',
);
const odd = fc.constantFrom(
  '',
  ' ',
  '  ',
  ',',
  '=',
  '\\',
  '"',
  '\n',
  '\r',
  '\t',
  '\0',
  '#',
  'é',
  '\\\\',
  '-',
);
const measurement = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('cpu', 'm', 'cpu\\ load', 'a\\,b', 'm\\=eq', 'ünï') },
  { weight: 1, arbitrary: odd },
);
const tagValue = fc.constantFrom('v', 'host_1', 'a\\ b', 'z\\=1', 'dbl\\\\sl', 'é', '1', '');
const tag = fc.tuple(name, tagValue).map(([k, v]) => `,${k}=${v}`);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map((n) => `${n}i`),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => String(n / 1000)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => `${n}i`),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((n) => `${n}u`),
  fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.nat(19)).map(([n, places]) => {
    const digits = n.toString().padStart(places + 1, '0');
    return `${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`;
  }),
  fc.constantFrom(
    '-0',
    '0',
    '-0i',
    '5.',
    '.5',
    '.',
    '-',
    '1e5',
    '1e400',
    '007',
    '1.2.3',
    '1i2',
    'NaN',
    '0.1',
  ),
  fc.constantFrom('9223372036854775807i', '9223372036854775808i', '123456789012345678901234567890'),
);
const value = fc.oneof(
  { weight: 4, arbitrary: number },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom('x', ' ', ',', '=', '\n', '\\"', '\\\\', '\\n', 'é', '#'), {
        maxLength: 30,
      })
      .map((parts) => `"${parts.join('')}"`),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      't',
      'T',
      'true',
      'True',
      'TRUE',
      'f',
      'false',
      'FALSE',
      'tRue',
      'x',
    ),
  },
  { weight: 1, arbitrary: odd },
);
const field = fc.tuple(name, value).map(([k, v]) => `${k}=${v}`);
const time = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .integer({ min: 0, max: 20 })
      .map((n) => ` ${1_600_000_000_000_000_000n + BigInt(n)}`),
  },
  {
    weight: 2,
    arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => ` ${n}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      ' 12 34',
      ' abc',
      ' -',
      ' 1600000000',
      ' 99999999999999999999',
      ' -5 ',
      '\t1',
    ),
  },
);
const line = fc
  .tuple(
    measurement,
    fc.array(tag, { maxLength: 4 }),
    fc.array(field, { minLength: 1, maxLength: 5 }),
    time,
  )
  .map(([m, tags, fields, t]) => `${m}${tags.join('')} ${fields.join(',')}${t}`);
const oddLine = fc
  .tuple(line, odd, fc.nat(80))
  .map(([l, o, at]) => l.slice(0, at) + o + l.slice(at + 1));
const body = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: line },
      { weight: 2, arbitrary: oddLine },
      {
        weight: 1,
        arbitrary: fc.constantFrom('', '# comment', '  # x', '   ', 'bad1', 'm f="open'),
      },
    ),
    { maxLength: 12 },
  )
  .chain((lines) => fc.constantFrom('\n', '\r\n').map((end) => lines.join(end)));

describe('a body means what the exact parser says', () => {
  test('points, merged fields, errors and refusals, over several bodies', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(body, fc.constantFrom('ns' as const, 's' as const, 'h' as const)), {
          minLength: 1,
          maxLength: 4,
        }),
        (bodies) => {
          const ingest = open();
          const model = new Model();
          for (const [content, precision] of bodies) {
            const bytes = utf8.encode(content);
            const batch = ingest.parseLines(bytes, { precision, now: NOW }, hostWith());
            model.write(bytes, precision);

            expect(batch.parseErrors).toEqual(model.errors);
            expect(batch.dropped?.count ?? 0).toBe(model.dropped);
            expect(batch.pointsWritten).toBe(model.written);
            expect(batch.consumedBytes).toBe(bytes.length);
          }
          expect(contentsOf(ingest, model.shardIds)).toEqual(model.contents);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('floats are rounded as JavaScript rounds them', () => {
    const ingest = open();
    fc.assert(
      fc.property(
        fc.array(
          number.filter((n) => Number.isFinite(Number(n))),
          { minLength: 1, maxLength: 50 },
        ),
        (numbers) => {
          const shard = shardOf(0n).id;
          const memtable = ingest.activeMemtable(shard);
          if (memtable !== undefined) ingest.free(memtable);

          write(ingest, numbers.map((n, i) => `m f=${n} ${i}`).join('\n'));

          const [table] = ingest.tables(ingest.activeMemtable(shard)!);
          const column = ingest.read(table!.table).columns[0]!;
          expect(numbers.map((_, i) => columnValue(column, i))).toEqual(numbers.map(Number));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('batches', () => {
  test('a record replayed elsewhere gives the same rows', () => {
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 4 }), (bodies) => {
        const ingest = open();
        const replayed = open();
        const shardIds = new Set<number>();
        for (const content of bodies) {
          const batch = write(ingest, content);
          for (const table of batch.tables) shardIds.add(table.shardId);
          const copy = replayed.replay(ingest.encodeBatch(batch), hostWith(), () => true);

          expect(copy.pointsWritten).toBe(batch.pointsWritten);
          expect(copy.newSeriesCount).toBe(batch.newSeriesCount);
        }
        expect(contentsOf(replayed, shardIds)).toEqual(contentsOf(ingest, shardIds));
        expect(replayed.nextSeriesId).toBe(ingest.nextSeriesId);
      }),
      { numRuns: 100 },
    );
  });

  test('a batch that is taken back leaves no trace', () => {
    fc.assert(
      fc.property(body, body, body, (first, second, third) => {
        const ingest = open();
        const reference = open();
        const shardIds = new Set<number>();
        const keep = (batch: Batch): void => batch.tables.forEach((t) => shardIds.add(t.shardId));
        keep(write(ingest, first));
        const nextSeriesId = ingest.nextSeriesId;
        const taken = write(ingest, second);
        keep(taken);
        ingest.rollback(taken);

        expect(ingest.nextSeriesId).toBe(nextSeriesId);
        keep(write(ingest, third));
        write(reference, first);
        write(reference, third);
        expect(contentsOf(ingest, shardIds)).toEqual(contentsOf(reference, shardIds));
        expect(ingest.seriesCount).toBe(reference.seriesCount);
      }),
      { numRuns: 100 },
    );
  });

  test('records with a flipped bit or a cut end are refused whole or read without harm', () => {
    const source = open();
    const record = source.encodeBatch(
      write(
        source,
        'cpu,h=a u=1i,s="x",b=t 1\ncpu,h=b u=2i,f=1.5 2\nm f=2.25 3\ncpu,h=a u=7i,s="yy" 9',
      ),
    );
    const ingest = open();
    for (let bit = 0; bit < record.length * 8; bit++) {
      const damaged = record.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const before = ingest.nextSeriesId;
      try {
        ingest.rollback(ingest.replay(damaged, hostWith(), () => true));
      } catch (error) {
        expect(error).toBeInstanceOf(CodecError);
      }
      expect(ingest.nextSeriesId).toBe(before);
    }
    for (let length = 0; length < record.length; length++) {
      expect(() => ingest.replay(record.subarray(0, length), hostWith(), () => true)).toThrow(
        CodecError,
      );
    }
    expect(ingest.seriesCount).toBe(0);
  });

  test('rows of shards that are not wanted are skipped, their series are not', () => {
    const source = open();
    const record = source.encodeBatch(write(source, `m,t=a f=1 0\nm,t=b f=2 ${WEEK}`));
    const ingest = open();

    const batch = ingest.replay(record, hostWith(), (id) => id === shardOf(WEEK).id);

    expect(batch.pointsWritten).toBe(1);
    expect(batch.tables.map((t) => t.shardId)).toEqual([shardOf(WEEK).id]);
    expect(ingest.seriesCount).toBe(2);
  });

  test('a batch ends early at the memory limit and goes on where it stopped', () => {
    const ingest = new IngestKernel({ parseLine: parseLines, memtableBytesMax: 200_000 });
    const bytes = utf8.encode(
      Array.from({ length: 20_000 }, (_, i) => `m,t=${i % 10} f=${i}i ${i}`).join('\n'),
    );
    const shard = shardOf(0n).id;
    let from = 0;
    let points = 0;
    let rounds = 0;
    while (from < bytes.length) {
      const batch = ingest.parseLines(bytes, { precision: 'ns', now: NOW, from }, hostWith());
      points += batch.pointsWritten;
      from = batch.consumedBytes;
      rounds++;
      const memtable = ingest.seal(shard);
      if (memtable !== undefined) ingest.free(memtable);
    }

    expect(points).toBe(20_000);
    expect(rounds).toBeGreaterThan(1);
    expect(ingest.memtableBytes).toBe(0);
  });
});

describe('refusals', () => {
  test('the first value decides the type of a field, later conflicting points are dropped whole', () => {
    const ingest = open();

    const batch = write(ingest, 'm f=1 1\nm f=2i,g=1 2\nm f=3 3\nm g="x" 4');

    expect(batch.dropped).toEqual({
      count: 1,
      reason:
        'field type conflict: input field "f" on measurement "m" is type integer, already exists as type float',
    });
    expect(batch.newFields.map((f) => [f.field, f.type])).toEqual([
      ['f', 'float'],
      ['g', 'string'],
    ]);
  });

  test('types that the shard already has are asked for once and hold', () => {
    const ingest = open();
    const asked: string[] = [];
    const host = hostWith({
      fieldTypes: (shardId, m) => {
        asked.push(`${shardId}/${m}`);
        return [['f', 'integer']];
      },
    });

    const batch = write(ingest, 'm f=1 1\nm f=2i 2\nm f=3i 3', host);

    expect(batch.dropped?.count).toBe(1);
    expect(batch.pointsWritten).toBe(2);
    expect(asked).toEqual([`${shardOf(1n).id}/m`]);
    expect(batch.newFields).toEqual([]);
  });

  test('a new series can be refused, points of known ones go on', () => {
    const ingest = open();
    write(ingest, 'm,t=a f=1 1');
    const refused: string[] = [];
    const host = hostWith({
      admitSeries: (key) => {
        refused.push(text.decode(key));
        return 'max-series-per-database limit exceeded: (1)';
      },
    });

    const batch = write(ingest, 'm,t=b f=1 1\nm,t=a f=2 2\nm,t=b f=1 2\nm,time=1 f=1', host);

    expect(batch.dropped).toEqual({
      count: 3,
      reason: 'max-series-per-database limit exceeded: (1)',
    });
    expect(refused).toEqual(['m,t=b', 'm,t=b']);
    expect(batch.pointsWritten).toBe(1);
    expect(ingest.seriesCount).toBe(1);
  });

  test('points before the oldest accepted time are counted as beyond retention', () => {
    const ingest = open();
    const host = hostWith({ oldestAccepted: 10n });

    const batch = write(ingest, 'm f=1 1\nm f=2 20\nm f=3 3', host);

    expect(batch.dropped).toEqual({ count: 2, reason: 'points beyond retention policy' });
    expect(batch.pointsWritten).toBe(1);
  });

  test('points after the newest accepted time are counted likewise, the limits themselves are in', () => {
    const ingest = open();
    const host = hostWith({ oldestAccepted: 10n, newestAccepted: 20n });

    const batch = write(ingest, 'm f=1 15\nm f=2 21\nm f=3 20\nm f=4 10\nm f=5 9', host);

    expect(batch.dropped).toEqual({ count: 2, reason: 'points beyond retention policy' });
    expect(batch.pointsWritten).toBe(3);
  });

  test('rejected lines are listed with their numbers when asked for', () => {
    const ingest = open();
    const content = '# head\nm f=1 1\nbad\n\nm f=2i 2\nm s="a\nb" 3\nalso,bad';

    const batch = ingest.parseLines(
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
    const ingest = open();

    const batch = write(ingest, 'm time=3,f=1 1\nm time=3 2');

    expect(batch.pointsWritten).toBe(1);
    expect(batch.dropped?.reason).toBe(
      'invalid field name: input field "time" on measurement "m" is invalid',
    );
  });
});

describe('memtables', () => {
  test('late and repeated points are merged in time order, up to the row limit', () => {
    const ingest = open();
    write(ingest, 'm,t=a f=1,g=1i 10\nm,t=b f=9 1\nm,t=a f=2 5\nm,t=a g=7i 10\nm,t=a f=3 20');
    const [info] = ingest.tables(ingest.activeMemtable(shardOf(0n).id)!);
    const id = ingest.findSeries(utf8.encode('m,t=a'))!;

    const all = ingest.read(info!.table, { series: Uint32Array.of(id), fields: ['g', 'f', 'h'] });
    const early = ingest.read(info!.table, {
      rowLimit: 3,
      series: Uint32Array.of(id),
      fields: ['g'],
    });
    const range = ingest.read(info!.table, { start: 6n, end: 19n, fields: ['f'] });

    expect(all.times).toEqual(BigInt64Array.of(5n, 10n, 20n));
    expect([0, 1, 2].map((i) => columnValue(all.columns[0]!, i))).toEqual([null, 7n, null]);
    expect([0, 1, 2].map((i) => columnValue(all.columns[1]!, i))).toEqual([2, 1, 3]);
    expect(all.columns[2]).toBeUndefined();
    expect(early.times).toEqual(BigInt64Array.of(5n, 10n));
    expect(columnValue(early.columns[0]!, 1)).toBe(1n);
    expect(range.times).toEqual(BigInt64Array.of(10n));
    expect([info!.minTime, info!.maxTime]).toEqual([1n, 20n]);
  });

  test('rows keep their order over many pages and series, whatever is asked for', () => {
    const ingest = open();
    const rows = 60_000;
    const lines: string[] = [];
    for (let i = 0; i < rows; i++) {
      const late = i % 97 === 0 ? -500 : 0;
      lines.push(`m,t=${(i * 7919) % 311} f=${i}i ${1000 + i + late}`);
    }
    write(ingest, lines.slice(0, 50_000).join('\n'));
    const [info] = ingest.tables(ingest.activeMemtable(shardOf(0n).id)!);
    // Builds the kept order; the rows behind it are then found by scanning.
    ingest.read(info!.table, { fields: [] });
    write(ingest, lines.slice(50_000).join('\n'));

    const model = new Map<string, Map<bigint, bigint>>();
    for (let i = 0; i < rows; i++) {
      const key = `m,t=${(i * 7919) % 311}`;
      const times = model.get(key) ?? new Map<bigint, bigint>();
      times.set(BigInt(1000 + i + (i % 97 === 0 ? -500 : 0)), BigInt(i));
      model.set(key, times);
    }
    const one = ingest.findSeries(utf8.encode('m,t=5'))!;
    const single = ingest.read(info!.table, { series: Uint32Array.of(one) });
    const sorted = [...model.get('m,t=5')!].toSorted((a, b) => Number(a[0] - b[0]));
    expect([...single.times]).toEqual(sorted.map(([t]) => t));
    expect(sorted.map((_, i) => columnValue(single.columns[0]!, i))).toEqual(
      sorted.map(([, v]) => v),
    );

    const all = ingest.read(info!.table);
    expect(all.seriesIds.length).toBe(311);
    for (let s = 0; s < 311; s++) {
      const times = model.get(text.decode(ingest.seriesKey(all.seriesIds[s]!)))!;
      const wanted = [...times.keys()].toSorted((a, b) => Number(a - b));
      expect([...all.times.subarray(all.rowStarts[s], all.rowStarts[s + 1])]).toEqual(wanted);
    }
  });

  test('a sealed memtable is read on while a new one takes rows, until it is freed', () => {
    const ingest = open();
    const shard = shardOf(0n).id;
    write(ingest, 'm f=1 1');
    const sealed = ingest.seal(shard)!;
    write(ingest, 'm f="other type" 1');

    expect(columnValue(ingest.read(ingest.tables(sealed)[0]!.table).columns[0]!, 0)).toBe(1);
    const active = ingest.activeMemtable(shard)!;
    expect(active).not.toBe(sealed);
    expect(ingest.tables(active)[0]!.fields).toEqual([{ name: 'f', type: 'string' }]);
    const before = ingest.memtableBytes;
    ingest.free(sealed);
    expect(ingest.memtableBytes).toBeLessThan(before);
  });
});

describe('series', () => {
  test('one series whatever the order of its tags', () => {
    const ingest = open();

    const batch = write(ingest, 'm,b=2,a=1 f=1 1\nm,a=1,b=2 f=2 2\nm,b=2,a=1 f=3 3');

    expect(batch.newSeriesCount).toBe(1);
    expect(text.decode(ingest.seriesKey(batch.firstSeriesId))).toBe('m,a=1,b=2');
  });

  test('a hundred thousand series are found again, removed ones are not', () => {
    const ingest = open();
    const count = 100_000;
    const lines = Array.from({ length: count }, (_, i) => `hc,id=${i},dc=dc${i % 7} value=1 1`);
    write(ingest, lines.join('\n'));

    expect(ingest.seriesCount).toBe(count);
    expect(ingest.seriesBytes).toBeLessThan(count * 100);
    ingest.removeSeries(Uint32Array.of(17));
    expect(ingest.findSeries(utf8.encode('hc,dc=dc3,id=17'))).toBeUndefined();
    expect(ingest.seriesKey(17)).toBeUndefined();
    expect(ingest.findSeries(utf8.encode('hc,dc=dc4,id=18'))).toBe(18);
    const batch = write(ingest, 'hc,id=17,dc=dc3 value=1 1');
    expect(batch.firstSeriesId).toBe(count);
    expect(batch.newSeriesCount).toBe(1);
  });

  test('an index can be loaded under its ids, and goes on behind them', () => {
    const ingest = open();
    ingest.loadSeries(Uint32Array.of(3, 8), [utf8.encode('m,t=a'), utf8.encode('a\\,b')]);
    ingest.reserveSeriesIds(20);

    const batch = write(ingest, 'm,t=a f=1\na\\,b f=1\nm,t=new f=1');

    expect(batch.newSeriesCount).toBe(1);
    expect(batch.firstSeriesId).toBe(20);
    expect(() => ingest.loadSeries(Uint32Array.of(3), [utf8.encode('other')])).toThrow(CodecError);
  });
});

test('points that are values are written like lines', () => {
  const ingest = open();
  const batch = ingest.appendPoints(
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
  expect(contentsOf(ingest, [shardOf(-1n).id])).toEqual(
    new Map([
      [
        `${shardOf(-1n).id}/my\\ mea\\,sure,a=1,b=x\\ y/-1`,
        { f: -0, i: -5n, u: 2n ** 64n - 1n, s: 'é "x"', b: true },
      ],
    ]),
  );
});
