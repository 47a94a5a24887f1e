import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  aggregateRows,
  POLICY,
  schemaBatches,
  scanRows,
  testEngine,
  write,
} from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

let storage: TestEngine;

beforeEach(async () => {
  storage = await testEngine();
});

afterEach(async () => {
  await storage.dispose();
});

test('acknowledged points are visible, merged by field and in the order of series and time', async () => {
  const outcome = await write(
    storage.engine,
    'cpu,host=b usage=1 10\ncpu,host=a usage=2 20\ncpu,host=a usage=3 10\ncpu,host=a idle=4i 10\n' +
      'cpu,host=a usage=5 10\n',
  );

  expect(outcome).toMatchObject({ pointsWritten: 5, valuesWritten: 5, dropped: undefined });
  const rows = await scanRows(storage.engine, 'cpu', [
    ['usage', 'float'],
    ['idle', 'integer'],
  ]);
  expect(rows).toEqual([
    ['cpu,host=a', 10n, 5, 4n],
    ['cpu,host=a', 20n, 2, null],
    ['cpu,host=b', 10n, 1, null],
  ]);
});

test('a descending scan reverses series and times and stops at the limit per series', async () => {
  await write(storage.engine, 'm,t=a f=1 1\nm,t=a f=2 2\nm,t=a f=3 3\nm,t=b f=4 1\nm,t=b f=5 2\n');

  const rows = await scanRows(storage.engine, 'm', [['f', 'float']], {
    descending: true,
    limitPerSeries: 2,
  });

  expect(rows).toEqual([
    ['m,t=b', 2n, 5],
    ['m,t=b', 1n, 4],
    ['m,t=a', 3n, 3],
    ['m,t=a', 2n, 2],
  ]);
});

test('conditions on tags and fields are combined per series', async () => {
  await write(storage.engine, 'm,t=a f=1,s="x" 1\nm,t=a f=9,s="y" 2\nm,t=b f=1,s="x" 1\nm f=9 3\n');

  const rows = await scanRows(storage.engine, 'm', [['f', 'float']], {
    where: {
      kind: 'or',
      left: { kind: 'tag', key: 't', operator: '=', value: 'b' },
      right: {
        kind: 'and',
        left: { kind: 'field', field: 'f', operator: '>', value: 5n },
        right: { kind: 'field-regex', field: 's', operator: '=~', pattern: '^y$' },
      },
    },
  });

  expect(rows).toEqual([
    ['m,t=a', 2n, 9],
    ['m,t=b', 1n, 1],
  ]);
});

test('everything acknowledged is there after a crash', async () => {
  await write(storage.engine, 'm,t=a f=1,i=2i,s="x",b=true 1\nm,t=b f=2 700000000000000\n');
  await write(storage.engine, 'm,t=a f=3 1\n');

  await storage.reopen('crash');

  const fields = [
    ['f', 'float'],
    ['i', 'integer'],
    ['s', 'string'],
    ['b', 'boolean'],
  ] as const;
  expect(await scanRows(storage.engine, 'm', fields)).toEqual([
    ['m,t=a', 1n, 3, 2n, 'x', true],
    ['m,t=b', 700000000000000n, 2, null, null, null],
  ]);
});

test.each([
  {
    name: 'a type that contradicts the shard',
    lines: 'm f=1 1\nm f=2i,g=1 2\nm g=2 3\n',
    written: 2,
    dropped: {
      count: 1,
      reason:
        'field type conflict: input field f on measurement m is type int64, already exists as type float',
    },
  },
  {
    name: 'a tag named time',
    lines: 'm f=1 1\nm time=3 2\nm,time=x f=2 3\n',
    written: 1,
    dropped: {
      count: 2,
      reason: 'invalid tag key: input tag "time" on measurement "m" is invalid',
    },
  },
  {
    name: 'a field named time beside another one',
    lines: 'm time=3,f=1 2\n',
    written: 1,
    dropped: undefined,
  },
  {
    name: 'two types of one field in one line',
    lines: 'm f=1,f=2i 2\n',
    written: 0,
    dropped: {
      count: 1,
      reason:
        'field type conflict: input field f on measurement m is type int64, already exists as type float',
    },
  },
])('a write with $name drops what the rules say', async ({ lines, written, dropped }) => {
  const outcome = await write(storage.engine, lines);

  expect(outcome.pointsWritten).toBe(written);
  expect(outcome.dropped).toEqual(dropped);
});

test.each([
  { name: 'older first', lines: 'm f=1 1\nm f=2 100\nm f=3 201\n' },
  { name: 'newer first', lines: 'm f=3 201\nm f=2 100\nm f=1 1\n' },
])('points outside of the policy are dropped, the others written: $name', async ({ lines }) => {
  const accepted = { oldestAccepted: 50n, newestAccepted: 200n };

  const outcome = await write(storage.engine, lines, accepted);
  const points = await storage.engine.writePoints({
    policy: { ...POLICY, ...accepted },
    points: [1n, 200n, 201n].map((time) => ({
      measurement: 'n',
      tags: [],
      fields: [['f', 1]],
      time,
    })),
  });

  expect(outcome.dropped).toEqual({ count: 2, reason: 'points beyond retention policy' });
  expect(points.dropped).toEqual({ count: 2, reason: 'points beyond retention policy' });
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual([['m', 100n, 2]]);
  expect(await scanRows(storage.engine, 'n', [['f', 'float']])).toEqual([['n', 200n, 1]]);
});

test('limits refuse new series only and name themselves', async () => {
  await write(storage.engine, 'm,t=a f=1 1\nm,t=b f=1 1\n');

  const series = await write(storage.engine, 'm,t=a f=2 2\nm,t=c f=1 1\nm,t=d f=1 1\n', {
    maxSeriesPerDatabase: 3,
  });
  const values = await write(storage.engine, 'm,t=e f=1 1\nm,t=a f=3 3\n', { maxValuesPerTag: 2 });

  expect(series.dropped).toEqual({
    count: 1,
    reason: 'max-series-per-database limit exceeded: (3)',
  });
  expect(values.dropped).toEqual({
    count: 1,
    reason: 'max-values-per-tag limit exceeded (3/2): measurement="m" tag="t" value="e"',
  });
});

test('series of writes that are under way count against the limit', async () => {
  const limit = { maxSeriesPerDatabase: 2 };
  const lines = [
    'm,t=a f=1 1',
    'm,t=b f=1 1\nm,t=c f=1 1',
    'm,t=c f=2 2\nm,t=a f=2 2',
    'm,t=b f=3 3',
  ];

  const outcomes = await Promise.all(lines.map((line) => write(storage.engine, line, limit)));

  expect(outcomes.map(({ dropped }) => dropped?.count ?? 0)).toEqual([0, 1, 1, 0]);
  expect((await write(storage.engine, 'm,t=d f=1 1', limit)).dropped?.count).toBe(1);
});

test('a series that was deleted is new when it is written again, for the limits too', async () => {
  const limit = { maxSeriesPerDatabase: 2 };
  const remove = (value: string): Promise<void> =>
    storage.engine.delete({
      database: 'db',
      where: { kind: 'tag', key: 't', operator: '=', value },
    });
  await write(storage.engine, 'm,t=a f=1 1\nm,t=b f=1 1\n', limit);
  await remove('a');
  await write(storage.engine, 'm,t=c f=1 1\n', limit);

  const again = await write(storage.engine, 'm,t=a f=2 2\n', limit);
  await storage.engine.flush();
  await remove('c');
  const third = await write(storage.engine, 'm,t=a f=3 3\n', limit);
  const rows = await scanRows(storage.engine, 'm', [['f', 'float']]);
  await storage.reopen('crash');
  const fourth = await write(storage.engine, 'm,t=c f=4 4\nm,t=a f=5 3\n', limit);

  expect(again.dropped?.reason).toBe('max-series-per-database limit exceeded: (2)');
  expect(third.dropped).toBeUndefined();
  expect(rows).toEqual([
    ['m,t=a', 3n, 3],
    ['m,t=b', 1n, 1],
  ]);
  expect(fourth.dropped?.count).toBe(1);
  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual([
    ['m,t=a', 3n, 5],
    ['m,t=b', 1n, 1],
  ]);
});

test('writes that are under way while their series is deleted do not split it in two', async () => {
  for (let round = 0; round < 20; round++) {
    const writes = [write(storage.engine, `m,t=a f=${round} 1\n`)];
    const removed = storage.engine.delete({ database: 'db', measurements: ['m'] });
    for (let i = 2; i < 6; i++) {
      writes.push(write(storage.engine, `m,t=a f=${round} ${i}\n`));
      if (i % 2 === round % 2) await writes.at(-1);
    }
    await Promise.all([...writes, removed]);

    const keys = await schemaBatches(storage.engine, {
      kind: 'series',
      filter: { database: 'db' },
    });
    expect(keys).toEqual([{ kind: 'series', measurement: 'm', keys: ['m,t=a'] }]);
  }
});

test('series are counted as they come and go', async () => {
  const count = async (of: 'series' | 'measurements', measurements?: string[]): Promise<unknown> =>
    (
      await schemaBatches(storage.engine, {
        kind: 'cardinality',
        of,
        filter: { database: 'db', measurements },
      })
    )[0];
  await write(storage.engine, 'm,t=a f=1 1\nm,t=b f=1 1\nn f=1 1\n');
  await storage.engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'a' },
  });

  expect(await count('series')).toEqual({ kind: 'cardinality', count: 2, isExact: true });
  expect(await count('measurements')).toEqual({ kind: 'cardinality', count: 2, isExact: true });
  expect(await count('series', ['m'])).toEqual({ kind: 'cardinality', count: 1, isExact: true });
});

test('values of tags are counted per key, without those of deleted series, and after a restart', async () => {
  const counts = async (filter: { retentionPolicy?: string } = {}): Promise<unknown> =>
    schemaBatches(storage.engine, {
      kind: 'tag-cardinality',
      filter: { database: 'db', ...filter },
      keys: { kind: 'not', key: 'u' },
    });
  const batch = (measurement: string, keys: Record<string, number>): unknown => ({
    kind: 'tag-cardinality',
    measurement,
    keys: Object.entries(keys).map(([key, count]) => ({ key, count, isExact: true })),
  });
  await write(storage.engine, 'm,t=a,u=1 f=1 1\nm,t=b f=1 1\nm,t=b,v=1 f=1 1\nn,t=x f=1 1\n');
  const before = await counts();
  await storage.engine.delete({
    database: 'db',
    where: { kind: 'tag', key: 't', operator: '=', value: 'a' },
  });
  const after = [batch('m', { t: 1, v: 1 }), batch('n', { t: 1 })];

  expect(before).toEqual([batch('m', { t: 2, v: 1 }), batch('n', { t: 1 })]);
  expect(await counts()).toEqual(after);
  expect(await counts({ retentionPolicy: 'autogen' })).toEqual(after);
  expect(await counts({ retentionPolicy: 'other' })).toEqual([]);
  await storage.reopen('crash');
  expect(await counts()).toEqual(after);
});

test('bytes that are no UTF-8 become replacement characters, in names and values, before and after a crash', async () => {
  const line = (time: number): Uint8Array =>
    Buffer.from(`m\xe9,t\xe9=v\xe9 f\xe9="s\xe9" ${time}`, 'latin1');
  await write(storage.engine, line(1));
  await storage.reopen('crash');
  await write(storage.engine, line(2));

  const rows = await scanRows(storage.engine, 'm\ufffd', [['f\ufffd', 'string']]);
  expect(rows).toEqual([
    ['m\ufffd,t\ufffd=v\ufffd', 1n, 's\ufffd'],
    ['m\ufffd,t\ufffd=v\ufffd', 2n, 's\ufffd'],
  ]);
});

test('unparsable lines are reported with their number and do not harm the others', async () => {
  const outcome = await write(storage.engine, 'm f=1 1\nbad\nm f=2 2\n');

  expect(outcome.pointsWritten).toBe(2);
  expect(outcome.parseErrors).toEqual(["unable to parse 'bad': missing fields"]);
  expect(outcome.rejectedLines).toEqual([{ lineNumber: 2, text: 'bad', reason: 'missing fields' }]);
});

test('windows aggregate the series of a group', async () => {
  await write(
    storage.engine,
    'm,h=a,r=x f=1 0\nm,h=b,r=x f=5 5\nm,h=a,r=x f=3 12\nm,h=c,r=y f=7 1\n',
  );

  const rows = await aggregateRows(
    storage.engine,
    'm',
    [{ field: 'f', type: 'float', functions: ['count', 'mean', 'max', 'last'] }],
    { groupBy: ['r'], window: { everyNanos: 10n, offsetNanos: 0n } },
  );

  expect(rows).toEqual([
    { tags: { r: 'x' }, start: 0n, values: [[2n], [3], [5, 5n], [5, 5n]] },
    { tags: { r: 'x' }, start: 10n, values: [[1n], [3], [3, 12n], [3, 12n]] },
    { tags: { r: 'y' }, start: 0n, values: [[1n], [7], [7, 1n], [7, 1n]] },
  ]);
});

test.each([false, true])(
  'measurements of several policies are aggregated one after another, descending: %s',
  async (descending) => {
    const other = { ...POLICY, id: 2, retentionPolicy: 'other' };
    await write(storage.engine, 'a f=1 1\na,h=x f=2 2\nb,h=x f=4 3\nd g=1 1\n');
    await write(storage.engine, 'a f=8 4\n', other);
    const of = (measurement: string, retentionPolicy = 'autogen') => {
      return { database: 'db', retentionPolicy, measurement };
    };

    const rows = await aggregateRows(
      storage.engine,
      '',
      [{ field: 'f', type: 'float', functions: ['sum', 'last'] }],
      {
        sources: [of('a'), of('c'), of('b'), of('a', 'other'), of('d'), of('a')],
        groupBy: ['h'],
        descending,
      },
    );

    const a = [
      { source: 0, tags: { h: '' }, values: [[1], [1, 1n]] },
      { source: 0, tags: { h: 'x' }, values: [[2], [2, 2n]] },
    ];
    if (descending) a.reverse();
    expect(rows.map(({ start: _, ...row }) => row)).toEqual([
      ...a,
      { source: 2, tags: { h: 'x' }, values: [[4], [4, 3n]] },
      { source: 3, tags: { h: '' }, values: [[8], [8, 4n]] },
      ...a.map((row) => ({ ...row, source: 5 })),
    ]);
  },
);

test('tag values of a measurement are listed whichever others have the same', async () => {
  await write(storage.engine, 'a,h=x,i=y f=1 1\nb,h=y,i=x f=1 1\nc,h=x f=1 1\nc,h=y f=1 1\n');

  const batches = await schemaBatches(storage.engine, {
    kind: 'tag-values',
    filter: { database: 'db' },
    keys: { kind: 'not', key: '' },
  });

  const listed = batches.map((batch) =>
    batch.kind === 'tag-values' ? [batch.measurement, batch.key, ...batch.values] : [],
  );
  expect(listed).toEqual([
    ['a', 'h', 'x'],
    ['a', 'i', 'y'],
    ['b', 'h', 'y'],
    ['b', 'i', 'x'],
    ['c', 'h', 'x', 'y'],
  ]);
});

test('schema look-ups list what has data', async () => {
  await write(storage.engine, 'm,t=a,u=1 f=1 1\nm,t=b f=1,g="s" 1\nn f=1i 1\n');
  const filter = { database: 'db' };

  expect(await schemaBatches(storage.engine, { kind: 'measurements', filter })).toEqual([
    { kind: 'measurements', names: ['m', 'n'] },
  ]);
  expect(await schemaBatches(storage.engine, { kind: 'tag-keys', filter })).toEqual([
    { kind: 'tag-keys', measurement: 'm', keys: ['t', 'u'] },
  ]);
  expect(
    await schemaBatches(storage.engine, {
      kind: 'tag-values',
      filter,
      keys: { kind: 'in', keys: ['t'] },
    }),
  ).toEqual([
    {
      kind: 'tag-values',
      measurement: 'm',
      key: 't',
      values: ['a', 'b'],
    },
  ]);
  expect(
    await schemaBatches(storage.engine, {
      kind: 'tag-values',
      filter,
      keys: { kind: 'not', key: 'none' },
      limitPerMeasurement: 1,
    }),
  ).toEqual([{ kind: 'tag-values', measurement: 'm', key: 't', values: ['a'] }]);
  expect(await schemaBatches(storage.engine, { kind: 'fields', filter })).toEqual([
    {
      kind: 'fields',
      measurement: 'm',
      fields: [
        { name: 'f', type: 'float' },
        { name: 'g', type: 'string' },
      ],
    },
    { kind: 'fields', measurement: 'n', fields: [{ name: 'f', type: 'integer' }] },
  ]);
  expect(await schemaBatches(storage.engine, { kind: 'series', filter })).toEqual([
    { kind: 'series', measurement: 'm', keys: ['m,t=a,u=1', 'm,t=b'] },
    { kind: 'series', measurement: 'n', keys: ['n'] },
  ]);
  const where = { kind: 'tag', key: 't', operator: '=', value: 'b' } as const;
  for (const [restriction, counts] of [
    [{}, ['m', 2, 'n', 1]],
    [{ retentionPolicy: 'autogen' }, ['m', 2, 'n', 1]],
    [{ retentionPolicy: 'other' }, []],
    [{ where }, ['m', 1]],
  ] as const) {
    const batches = await schemaBatches(storage.engine, {
      kind: 'series-cardinality',
      filter: { ...filter, ...restriction },
    });
    const found = batches.flatMap((batch) =>
      batch.kind === 'series-cardinality' ? [batch.measurement, batch.count] : [],
    );
    expect(found).toEqual(counts);
  }
});

test('a delete removes rows and series, keeps the type, and survives a crash', async () => {
  await write(storage.engine, 'm,t=a f=1 1\nm,t=a f=2 2\nm,t=b f=3 1\n');
  await storage.engine.delete({
    database: 'db',
    measurements: ['m'],
    where: { kind: 'tag', key: 't', operator: '=', value: 'b' },
  });
  await storage.engine.delete({ database: 'db', timeRange: { start: 2n, end: 2n } });

  await storage.reopen('crash');

  expect(await scanRows(storage.engine, 'm', [['f', 'float']])).toEqual([['m,t=a', 1n, 1]]);
  expect(
    await schemaBatches(storage.engine, { kind: 'series', filter: { database: 'db' } }),
  ).toEqual([{ kind: 'series', measurement: 'm', keys: ['m,t=a'] }]);
  expect((await write(storage.engine, 'm,t=b f=1i 1\n')).dropped?.count).toBe(1);
});

test('dropping a measurement frees its field types', async () => {
  await write(storage.engine, 'm f=1 1\nn f=1 1\n');

  await storage.engine.dropMeasurement('db', 'm');
  const outcome = await write(storage.engine, 'm f=2i 1\n');

  expect(outcome.dropped).toBeUndefined();
  expect(await scanRows(storage.engine, 'm', [['f', 'integer']])).toEqual([['m', 1n, 2n]]);
  expect(await scanRows(storage.engine, 'n', [['f', 'float']])).toEqual([['n', 1n, 1]]);
});

test('a dropped database comes back empty under the same name, also after a crash', async () => {
  await write(storage.engine, 'm,t=old f=1 1\n');
  await storage.engine.dropPolicy(1);
  await write(storage.engine, 'm,t=new f=2i 1\n', { id: 2 });

  await storage.reopen('crash');

  expect(await scanRows(storage.engine, 'm', [['f', 'integer']])).toEqual([['m,t=new', 1n, 2n]]);
  expect((await storage.engine.shards()).map((shard) => shard.policyId)).toEqual([2]);
});

test('shards of 168 hours begin on a Monday and are clipped to the representable range', async () => {
  await write(storage.engine, 'm f=1 1609459200000000000\nm f=1 -9223372036854775806\n');

  const shards = await storage.engine.shards();

  expect(shards.map(({ start, end }) => [start, end])).toEqual([
    [1609113600000000000n, 1609718400000000000n],
    [-9223372036854775806n, -9222854400000000000n],
  ]);
});
