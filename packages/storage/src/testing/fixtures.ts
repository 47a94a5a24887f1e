// Helpers of this package's tests: an engine in a fresh folder, and reading everything back as
// plain rows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { columnValue, NANOS_PER_WEEK } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import { DEFAULT_QUERY_LIMITS, eachBatch } from '@tidemark/query';
import type {
  AggregateRequest,
  QueryContext,
  ScanRequest,
  SchemaBatch,
  SchemaRequest,
  SourceSnapshot,
} from '@tidemark/query';
import type { PolicyRef, StorageEngine, WriteOutcome } from '@tidemark/storage-api';

import { nodeDisk } from '../disk/node-disk.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import type { StorageEnvironment } from '../engine/environment.ts';
import type { StorageOptions } from '../options.ts';

export const POLICY: PolicyRef = {
  id: 1,
  database: 'db',
  retentionPolicy: 'autogen',
  shardDurationNanos: NANOS_PER_WEEK,
  maxSeriesPerDatabase: 0,
  maxValuesPerTag: 0,
};

export type TestEngine = {
  engine: StorageEngine;
  readonly directory: string;
  /** Closes (unless `crash`) and opens again. */
  reopen(how?: 'close' | 'crash'): Promise<void>;
  dispose(): Promise<void>;
};

export async function testEngine(
  options: Partial<StorageOptions> = {},
  environment: Partial<StorageEnvironment> = {},
): Promise<TestEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'storage-'));
  const open = (): Promise<StorageEngine> =>
    openStorageInline(
      { directory, hasBackgroundWork: false, ...options },
      { disk: nodeDisk(), ...environment },
    );
  const result: TestEngine = {
    engine: await open(),
    directory,
    reopen: async (how = 'close') => {
      if (how === 'close') await result.engine.close();
      result.engine = await open();
    },
    dispose: async () => {
      await result.engine.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return result;
}

export function write(
  engine: StorageEngine,
  lines: string | Uint8Array,
  policy: Partial<PolicyRef> = {},
): Promise<WriteOutcome> {
  return engine.writeLines({
    policy: { ...POLICY, ...policy },
    body: typeof lines === 'string' ? new TextEncoder().encode(lines) : lines,
    precision: 'ns',
    now: 1_000_000_000n,
    isDetailed: true,
  });
}

const signal = new AbortController().signal;
const SOURCE = { database: 'db', retentionPolicy: 'autogen' };
export const EVERYTHING = { start: -9223372036854775806n, end: 9223372036854775806n };

/** The field `f` of all rows of the measurement `m`, in one group. */
export const ROWS_OF_F: ScanRequest = {
  source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
  timeRange: EVERYTHING,
  descending: false,
  groupBy: [],
  fields: [{ name: 'f', type: 'float' }],
};

export type Row = readonly [series: string, time: bigint, ...values: (FieldValue | null)[]];

/** Rows of a scan over one measurement. */
export async function scanRows(
  engine: StorageEngine,
  measurement: string,
  fields: readonly (readonly [string, FieldType])[],
  request: Partial<ScanRequest> = {},
): Promise<Row[]> {
  const snapshot = engine.source.snapshot();
  const rows: Row[] = [];
  try {
    const batches = snapshot.scan(
      {
        source: { ...SOURCE, measurement },
        timeRange: EVERYTHING,
        descending: false,
        groupBy: 'all',
        fields: fields.map(([name, type]) => ({ name, type })),
        ...request,
      },
      { signal },
    );
    for await (const batch of eachBatch(batches)) {
      batch.times.forEach((time, i) => {
        rows.push([batch.seriesKey, time, ...batch.columns.map((c) => columnValue(c, i))]);
      });
    }
  } finally {
    snapshot.close();
  }
  return rows;
}

export type AggregateRow = {
  /** Its measurement, if there are several. */
  readonly source?: number;
  readonly tags: Record<string, string>;
  readonly start: bigint;
  readonly values: readonly (readonly [FieldValue | null, bigint?])[];
};

/**
 * Windows of an aggregation; values in the order of fields and functions, with their point times.
 */
export async function aggregateRows(
  engine: StorageEngine,
  measurement: string,
  aggregates: AggregateRequest['aggregates'],
  request: Partial<AggregateRequest> = {},
): Promise<AggregateRow[]> {
  const snapshot = engine.source.snapshot();
  const rows: AggregateRow[] = [];
  try {
    const batches = snapshot.aggregate(
      {
        sources: [{ ...SOURCE, measurement }],
        timeRange: EVERYTHING,
        descending: false,
        groupBy: [],
        aggregates,
        ...request,
      },
      { signal },
    );
    for await (const batch of eachBatch(batches)) {
      batch.windowStarts.forEach((start, i) => {
        const values = batch.fields.flat().map((column): readonly [FieldValue | null, bigint?] => {
          const value = columnValue(column.values, i);
          const time = column.pointTimes?.[i];
          return value === null || time === undefined ? [value] : [value, time];
        });
        const row = { tags: Object.fromEntries(batch.groupTags), start, values };
        rows.push(request.sources === undefined ? row : { ...row, source: batch.source ?? 0 });
      });
    }
  } finally {
    snapshot.close();
  }
  return rows;
}

export async function schemaBatches(
  engine: StorageEngine,
  request: SchemaRequest,
): Promise<SchemaBatch[]> {
  const snapshot = engine.source.snapshot();
  const batches: SchemaBatch[] = [];
  try {
    for await (const batch of eachBatch(snapshot.schema(request, { signal }))) batches.push(batch);
  } finally {
    snapshot.close();
  }
  return batches;
}

/** The context of a statement on database `db`. */
export function queryContext(
  { source }: StorageEngine,
  snapshot: SourceSnapshot,
  own: Partial<QueryContext> = {},
): QueryContext {
  return {
    snapshot,
    capabilities: source.capabilities,
    catalog: {
      hasDatabase: () => true,
      hasRetentionPolicy: () => true,
      defaultRetentionPolicy: () => 'autogen',
      retentionPolicies: () => ['autogen'],
    },
    database: 'db',
    now: 0n,
    limits: DEFAULT_QUERY_LIMITS,
    signal,
    monotonicMs: () => 0,
    random: () => 0,
    ...own,
  };
}

/** A sequence of small numbers that begins with the seed. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state >>> 8;
  };
}
