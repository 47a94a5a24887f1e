import { floorDiv } from '@tidemark/core';
import fc from 'fast-check';
import { compressSync, uncompressSync } from 'snappy';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';
import {
  checkWriteRequest,
  readReadRequest,
  readWriteRequest,
  sampleFields,
  writeReadRequest,
  LabelEncoder,
  readResponse,
  writeWriteRequest,
} from './messages.ts';
import type { Matcher, RemoteSeries } from './messages.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.query('CREATE DATABASE p');
});
afterAll(() => service.close());

const post = (path: string, bytes: Uint8Array) =>
  fetch(`${service.url}${path}?db=p`, {
    method: 'POST',
    body: compressSync(Buffer.from(bytes)),
    headers: { 'Content-Encoding': 'snappy', 'Content-Type': 'application/x-protobuf' },
  });

const labels = (values: Record<string, string>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

const written: RemoteSeries[] = [
  {
    labels: labels({ __name__: 'up', job: 'a', instance: 'x:1' }),
    samples: [
      { value: 1, timestampMs: 1000n },
      { value: 0.5, timestampMs: 2000n },
      { value: Number.NaN, timestampMs: 3000n },
    ],
  },
  { labels: labels({ __name__: 'up', job: 'b' }), samples: [{ value: 2, timestampMs: 1500n }] },
  { labels: labels({ __name__: 'down', job: 'b' }), samples: [{ value: 3, timestampMs: 1500n }] },
];

async function read(matchers: Matcher[], startMs = 0n, endMs = 10_000n): Promise<RemoteSeries[]> {
  const response = await post(
    '/api/v1/prom/read',
    writeReadRequest([{ startMs, endMs, matchers }]),
  );
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-protobuf');
  expect(response.headers.get('content-encoding')).toBe('snappy');
  const bytes = uncompressSync(Buffer.from(await response.arrayBuffer())) as Buffer;
  // A ReadResponse holds QueryResults, which have the layout of a WriteRequest.
  const [result] = readOuter(bytes);
  return [...readWriteRequest(result ?? new Uint8Array(0))];
}

function readOuter(bytes: Uint8Array): Uint8Array[] {
  const results: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    at++; // tag of field 1
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    results.push(bytes.subarray(at, at + length));
    at += length;
  }
  return results;
}

test('remotely written samples are read back by their labels', async () => {
  expect((await post('/api/v1/prom/write', writeWriteRequest(written))).status).toBe(204);

  const up = await read([{ kind: '=', name: '__name__', value: 'up' }]);
  expect(
    up.map((series) => Object.fromEntries(series.labels.map((l) => [l.name, l.value]))),
  ).toEqual([
    { __name__: 'up', instance: 'x:1', job: 'a' },
    { __name__: 'up', job: 'b' },
  ]);
  expect(up[0]?.samples).toEqual([
    { value: 1, timestampMs: 1000n },
    { value: 0.5, timestampMs: 2000n },
  ]);
});

test.each([
  ['a label that is not', [{ kind: '!=', name: 'job', value: 'a' }], ['up']],
  ['a missing label', [{ kind: '=', name: 'instance', value: '' }], ['up']],
  ['a pattern of the whole value', [{ kind: '=~', name: 'job', value: 'a|c' }], ['up']],
  ['a pattern that matches only a part', [{ kind: '=~', name: 'instance', value: 'x' }], []],
] as const)('matches %s', async (_, matchers, names) => {
  const found = await read([{ kind: '=', name: '__name__', value: 'up' }, ...matchers]);
  expect(found.map((series) => series.labels.find((l) => l.name === '__name__')?.value)).toEqual(
    names,
  );
});

test('metrics can be found by pattern, and time bounds are inclusive', async () => {
  const found = await read([{ kind: '=~', name: '__name__', value: 'up|down' }], 1500n, 1500n);
  expect(found.map((s) => s.labels.find((l) => l.name === '__name__')?.value).sort()).toEqual([
    'down',
    'up',
  ]);
});

test.each([
  ['another name', [{ kind: '!=', name: '__name__', value: 'up' }], ['down']],
  ['no such pattern', [{ kind: '!~', name: '__name__', value: 'd.*' }], ['up', 'up']],
  [
    'one of several, but for one',
    [
      { kind: '=~', name: '__name__', value: 'up|down' },
      { kind: '!=', name: '__name__', value: 'down' },
    ],
    ['up', 'up'],
  ],
  [
    'a name that it cannot have',
    [
      { kind: '=', name: '__name__', value: 'up' },
      { kind: '!=', name: '__name__', value: 'up' },
    ],
    [],
  ],
] as const)('finds metrics by %s', async (_, matchers, names) => {
  const found = await read([...matchers]);
  expect(found.map((series) => series.labels.find((l) => l.name === '__name__')?.value)).toEqual(
    names,
  );
});

test('other measurements are found by their names too', async () => {
  await service.write('line value=4 1500000000', { db: 'p' });

  const found = await read([{ kind: '!~', name: '__name__', value: 'up|line' }]);
  const line = await read([{ kind: '=~', name: '__name__', value: 'l.+' }]);

  expect(found.map((series) => series.labels)).toEqual([labels({ __name__: 'down', job: 'b' })]);
  expect(line).toEqual([
    { labels: labels({ __name__: 'line' }), samples: [{ value: 4, timestampMs: 1500n }] },
  ]);
});

test('a read with other values and times has the plan of its shape', async () => {
  const panel = (value: string, endMs: bigint) =>
    read(
      [
        { kind: '=', name: '__name__', value: 'up' },
        { kind: '=', name: 'job', value },
      ],
      0n,
      endMs,
    );
  await panel('a', 10_000n);
  const before = await planCounters();
  const found = [await panel('b', 9000n), await panel('a', 1000n)];
  const after = await planCounters();

  expect(
    found.map((series) => series.map(({ samples }) => samples.map(({ value }) => value))),
  ).toEqual([[[2]], [[1]]]);
  expect([after.hits - before.hits, after.misses - before.misses]).toEqual([2, 0]);
});

async function planCounters(): Promise<{ readonly hits: number; readonly misses: number }> {
  const { json } = await service.query(`SHOW STATS FOR 'plans'`);
  const [{ columns, values }] = json.results[0].series;
  const of = (name: string): number => values[0][columns.indexOf(name)];
  return { hits: of('hits'), misses: of('misses') };
}

test.each([
  ['a metric that is called like a system source', '_tags', []],
  ['a label that no series has', 'up', [{ kind: '!=', name: 'time', value: 'now' }]],
] as const)('%s is read', async (_, name, matchers) => {
  const one = { labels: labels({ __name__: '_tags' }), samples: [{ value: 7, timestampMs: 1n }] };
  expect((await post('/api/v1/prom/write', writeWriteRequest([one]))).status).toBe(204);

  const found = await read([{ kind: '=', name: '__name__', value: name }, ...matchers]);

  expect(found.length).toBe(name === 'up' ? 2 : 1);
});

test('points are ordinary points', async () => {
  const { json } = await service.query("SELECT value FROM up WHERE job = 'a'", {
    db: 'p',
    epoch: 'ms',
  });
  expect(json.results[0].series[0].values).toEqual([
    [1000, 1],
    [2000, 0.5],
  ]);
});

test.each(['/api/v1/prom/write', '/api/v1/prom/read'])(
  '%s refuses what it cannot read',
  async (path) => {
    const raw = await fetch(`${service.url}${path}?db=p`, { method: 'POST', body: 'nonsense' });
    expect(raw.status).toBe(400);
    expect((await post(path, Uint8Array.of(0x0a, 0x7f, 1))).status).toBe(400);
    expect(
      (
        await fetch(`${service.url}${path}?db=p`, {
          method: 'POST',
          body: Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]),
        })
      ).status,
    ).toBe(413);
  },
);

test('messages survive any bytes and read back what was written', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      for (const readAny of [checkWriteRequest, readReadRequest]) {
        try {
          readAny(bytes);
        } catch (error) {
          expect((error as Error).name).toBe('InvalidRequest');
        }
      }
    }),
  );
  expect([...readWriteRequest(writeWriteRequest(written))]).toEqual(written);
});

test('labels and samples of an answer are the fields that a message has', () => {
  const sample = fc.record({
    nanos: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    value: fc.double(),
    isValid: fc.boolean(),
  });
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  const labelled = fc.array(fc.array(fc.record({ name: text, value: text })));
  fc.assert(
    fc.property(fc.array(sample), labelled, (all, series) => {
      const valid = all.filter(({ isValid }) => isValid);
      const samples = valid.map(({ nanos, value }) => ({
        value,
        timestampMs: floorDiv(nanos, 1_000_000n),
      }));
      const fields = sampleFields(
        BigInt64Array.from(all, ({ nanos }) => nanos),
        {
          values: Float64Array.from(all, ({ value }) => value),
          valid: Uint8Array.from(all, ({ isValid }) => Number(isValid)),
        },
      );
      const encoder = new LabelEncoder();
      const { length, parts } = readResponse([
        series.map((each) => ({ labels: encoder.fields(each), samples: [fields.slice()] })),
      ]);
      // Each part is freed when the next one is taken.
      const message = Buffer.concat(Array.from(parts, (part) => Buffer.from(part)));
      expect(message).toHaveLength(length);
      const [answered] = readOuter(message);
      const expected = writeWriteRequest(series.map((each) => ({ labels: each, samples })));
      expect(Buffer.from(answered!)).toEqual(Buffer.from(expected));
    }),
  );
});
