import { expect, test } from 'vitest';

import type { FieldType } from '@tidemark/core';
import { Kernels, SeriesKeys } from '@tidemark/kernels';

import { Ingest, validBody } from './ingest.ts';
import type { IngestSettings, IngestTarget } from './ingest.ts';
import { OutcomeCollector } from './outcome-collector.ts';
import type { PolicyRef } from './writes.ts';

const DAY = 86_400n * 1_000_000_000n;
const SETTINGS: IngestSettings = {
  allowUnsigned: false,
  fieldTypes: 'shard',
  maxShards: 0,
  maxBadLines: 0,
  maxTextBytes: 0,
};
const POLICY: PolicyRef = {
  id: 1,
  database: 'db',
  retentionPolicy: 'autogen',
  shardDurationNanos: DAY,
  maxSeriesPerDatabase: 0,
  maxValuesPerTag: 0,
};

/** Ingest into shards of a day, whose numbers are ids; `types` are those of `m`, by shard. */
function open(
  settings: Partial<IngestSettings> = {},
  types: Record<number, Record<string, FieldType>> = {},
) {
  const shards = new Set(Object.keys(types).map(Number));
  const bounds = (id: number) => ({ id, start: BigInt(id) * DAY, end: BigInt(id + 1) * DAY });
  const ingest = new Ingest({
    series: new SeriesKeys(new Kernels()),
    settings: { ...SETTINGS, ...settings },
    shards: {
      find: (_policy, time) =>
        shards.has(Number(time / DAY)) ? bounds(Number(time / DAY)) : undefined,
      create: (_policy, time) => {
        shards.add(Number(time / DAY));
        return bounds(Number(time / DAY));
      },
      ids: () => [...shards],
      fieldTypes: (id) => Object.entries(types[id] ?? {}),
    },
  });
  return { ingest, shards };
}

function targetOf(): IngestTarget & { readonly outcome: OutcomeCollector } {
  const outcome = new OutcomeCollector({ isDetailed: false });
  return { policy: POLICY, used: new Set(), outcome, admitSeries: undefined };
}

/** Writes all parts of a body and returns the outcome and the number of parts. */
function write(ingest: Ingest, text: string) {
  const target = targetOf();
  const body = Buffer.from(text);
  let parts = 0;
  for (let from: number | undefined = 0; from !== undefined; parts++) {
    from = ingest.lines({ policy: POLICY, body, precision: 'ns', now: 0n }, from, target).next;
  }
  return { ...target.outcome.outcome, parts };
}

test('a write in parts adds up to one outcome', () => {
  const { ingest } = open({ partBytes: 2000 });
  const lines = Array.from({ length: 500 }, (_, i) => `m f=${i} ${i}`);

  const { parts, ...outcome } = write(ingest, lines.join('\n'));

  expect(parts).toBeGreaterThan(1);
  expect(outcome).toMatchObject({ pointsWritten: 500, parseErrors: [], dropped: undefined });
});

test('points in parts lose those that cannot be stored', () => {
  const { ingest } = open();
  const points = Array.from({ length: 5000 }, (_, i) => ({
    measurement: 'm',
    tags: [['b', '2'] as const, ['a', '1'] as const, ['c', ''] as const],
    fields: [['f', i % 2 === 0 ? 1 : Number.NaN] as const],
    time: BigInt(i),
  }));
  const target = targetOf();

  const first = ingest.points({ policy: POLICY, points }, 0, target);
  expect(first.next).toBe(4096);
  expect(ingest.points({ policy: POLICY, points }, first.next!, target).next).toBeUndefined();
  expect(target.outcome.outcome.pointsWritten).toBe(2500);
});

test('a write that needs too many shards creates no more, and still writes to those it has', () => {
  const { ingest, shards } = open({ maxShards: 2 });
  const outcome = write(ingest, [0n, DAY, 2n * DAY, 1n].map((time) => `m f=1 ${time}`).join('\n'));

  expect(outcome.pointsWritten).toBe(3);
  expect(outcome.dropped?.reason).toContain('max-shards-per-write limit exceeded: (2)');
  expect([...shards]).toEqual([0, 1]);
});

test('parsing ends after the limit of bad lines, and the outcome says so', () => {
  const { ingest } = open({ maxBadLines: 3 });
  const { parseErrors, pointsWritten } = write(ingest, `${'bad\n'.repeat(10)}m f=1 1`);

  expect(parseErrors).toHaveLength(4);
  expect(parseErrors.at(-1)).toContain('max-bad-lines limit exceeded: (3)');
  expect(pointsWritten).toBe(0);
});

test('with one type per measurement, the type of another shard counts where a shard has none', () => {
  const types = { 0: { f: 'integer' }, 1: { g: 'integer', f: 'float' } } as const;
  const text = `m g=1.5 1\nm f=2i 1\nm f=2.5 ${DAY}`;

  expect(write(open({}, types).ingest, text)).toMatchObject({ pointsWritten: 3 });
  const shared = write(open({ fieldTypes: 'measurement' }, types).ingest, text);
  expect(shared.pointsWritten).toBe(2);
  expect(shared.dropped?.count).toBe(1);
});

test('with one type per measurement, a type that one write defined holds in other shards', () => {
  const types: Record<number, Record<string, FieldType>> = { 0: {}, 1: { g: 'float' } };
  const { ingest } = open({ fieldTypes: 'measurement' }, types);
  write(ingest, `m g=1 ${DAY}`);

  write(ingest, 'm f=1i 1');
  types[0] = { f: 'integer' };

  expect(write(ingest, `m f=1.5 ${DAY}`).dropped?.count).toBe(1);
});

test('a body that is not UTF-8 gets replacement characters', () => {
  const bytes = Buffer.from([0x6d, 0xff, 0x20]);
  expect(Buffer.from(validBody(bytes)).toString()).toBe('m\ufffd ');
  const valid = Buffer.from('é');
  expect(validBody(valid)).toBe(valid);
});
