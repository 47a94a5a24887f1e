// The engine of a simulation, and reads from it that take no time.
import { columnValue } from '@tidemark/core';
import { isPause } from '@tidemark/query';
import type { AggregateBatch, AggregateRequest, Operator, SourceSnapshot } from '@tidemark/query';
import type { StorageLog } from '@tidemark/storage-api';

import { ReadKernels } from '../../../columns/read-kernels.ts';
import type { Engine } from '../../../engine/engine.ts';
import { openEngine } from '../../../engine/open-engine.ts';
import { resourcesFor } from '../../../engine/resources.ts';
import type { StorageOptions } from '../../../options.ts';
import { LocalSource } from '../../../read/local-source.ts';
import type {
  EngineReaders,
  LeasedReader,
  MakeReaders,
  ReadEngine,
} from '../../../read/leased-read.ts';
import { Turns } from '../../../schedule/turns.ts';
import type { Snapshot } from '../../../state/snapshot.ts';
import type { SimulatedDisk } from '../../simulated-disk.ts';
import type { Scheduler } from '../scheduler.ts';
import { Asked } from './answers.ts';
import { MessageWrites } from './message-writes.ts';
import { DATABASES, MEASUREMENTS, POLICIES, RESTORED } from './operations.ts';
import type { Setup } from './operations.ts';

export const DIRECTORY = '/data';

/** Shared by all engines: they take no turns and hold nothing that belongs to one engine. */
let kernels: ReadKernels | undefined;

export type Subject = {
  readonly engine: Engine;
  /** Writes to it. */
  readonly writes: MessageWrites;
  readonly source: LocalSource;
  /** Answers that the storage thread encodes. */
  readonly asked: Asked;
  /** Reads without pauses, in no time. */
  readonly instant: LocalSource;
};

export async function openSubject(
  setup: Setup,
  {
    disk,
    scheduler,
    onJointMessage,
    log,
    readers,
  }: {
    readonly disk: SimulatedDisk;
    readonly scheduler: Scheduler;
    readonly onJointMessage: () => void;
    readonly log: StorageLog;
    readonly readers: MakeReaders;
  },
): Promise<Subject> {
  kernels ??= new ReadKernels(1 << 20);
  const options: StorageOptions = {
    directory: DIRECTORY,
    walFsync: setup.fsync,
    walSyncIntervalMs: 200,
    walMaxBytes: 4000,
    // Two lines, more or less.
    ingest: { partBytes: setup.hasParts ? 1 : undefined },
    deletedSeriesMin: 1,
    checkpointSeriesMin: 0,
    hasBackgroundWork: setup.hasBackgroundWork,
    snapshotMaxAgeMs: Number.MAX_SAFE_INTEGER,
    log,
  };
  const { clock } = scheduler;
  let reader: LeasedReader | undefined;
  const environment = {
    disk,
    readers: (of: ReadEngine): EngineReaders => {
      const made = readers(of);
      reader = made;
      return made;
    },
    clock,
    kernels,
    nextRound: (run: () => void): void => scheduler.run('turn', run),
    fault: (point: string): Promise<void> => scheduler.wait(`step ${point}`),
  };
  const resources = resourcesFor(options, environment);
  const engine = await openEngine(options, environment, resources);
  const reading = { ...resources, clock, snapshotMaxAgeMs: Number.MAX_SAFE_INTEGER };
  const snapshot = (): ReturnType<Engine['snapshot']> => engine.snapshot();
  const still = { ...clock, monotonicMs: () => 0 };
  const turns = new Turns({ clock: still, sliceMs: 1, nextRound: () => undefined });
  const source = new LocalSource({ ...reading, reader, snapshot });
  return {
    engine,
    writes: new MessageWrites(engine, { scheduler, onJointMessage }),
    source,
    asked: new Asked(source),
    instant: new LocalSource({ ...reading, snapshot, turns, clock: still }),
  };
}

const NEVER = new AbortController().signal;
const RANGE = { start: -9223372036854775806n, end: 9223372036854775806n };

/**
 * Everything that can be read now: values by names (`nameOf`). Read again only when the parts of
 * the engine's snapshot have changed.
 */
export class Reader {
  readonly #subject: Subject;
  #parts: readonly unknown[] = [];
  #seen: ReadonlyMap<string, number> = new Map();

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  read(): ReadonlyMap<string, number> {
    const taken = this.#subject.engine.snapshot();
    try {
      const parts = partsOf(taken);
      const isSame =
        parts.length === this.#parts.length && parts.every((part, i) => part === this.#parts[i]);
      if (!isSame) this.#seen = readEverything(this.#subject, taken);
      this.#parts = parts;
    } finally {
      taken.release();
    }
    return this.#seen;
  }
}

/**
 * The parts that decide what a snapshot holds: those that are replaced with a change, and those
 * that grow.
 */
function partsOf({ shards, databases }: Snapshot): readonly unknown[] {
  const parts: unknown[] = [];
  for (const { shard, series, segments, tombstones, tables } of shards) {
    parts.push(shard, series, segments, tombstones);
    for (const views of tables.values()) for (const one of views) parts.push(one.table, one.rows);
  }
  for (const { index } of databases.values()) {
    parts.push(index, index.seriesEnd, index.deletedCount);
  }
  return parts;
}

function readEverything(
  { instant }: Subject,
  { shards, databases }: Snapshot,
): Map<string, number> {
  const seen = new Map<string, number>();
  const policies = new Set(
    shards.map(({ shard: { descriptor: d } }) => `${d.database}.${d.retentionPolicy}`),
  );
  const snapshot = instant.snapshot();
  try {
    for (const database of [...DATABASES, RESTORED]) {
      for (const retentionPolicy of POLICIES) {
        if (!policies.has(`${database}.${retentionPolicy}`)) continue;
        for (const measurement of MEASUREMENTS) {
          const { index } = databases.get(database) ?? {};
          if (index?.measurement(measurement) === undefined) continue;
          const source = { database, retentionPolicy, measurement };
          for (const batch of batchesOf(scanOf(snapshot, source))) {
            batch.times.forEach((time, i) => {
              const name = `${database}.${retentionPolicy} ${batch.seriesKey} ${time}`;
              // A row that exists twice is reported as a value that was never written.
              const isTwice = seen.has(name);
              seen.set(name, isTwice ? -1 : Number(columnValue(batch.columns[0]!, i)));
            });
          }
        }
      }
    }
  } finally {
    snapshot.close();
  }
  return seen;
}

type Source = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
};

function scanOf(snapshot: SourceSnapshot, source: Source): ReturnType<SourceSnapshot['scan']> {
  return snapshot.scan(
    {
      source,
      timeRange: RANGE,
      descending: false,
      groupBy: 'all',
      fields: [{ name: 'v', type: 'float' }],
    },
    { signal: NEVER },
  );
}

function* batchesOf<T>(work: Operator<T>): Generator<T> {
  for (const step of work) {
    if (isPause(step)) {
      if (step !== undefined) throw new Error('what is read at once waits');
      continue;
    }
    yield step;
  }
}

/** Count and sum of a measurement. */
export type Aggregates = { readonly count: number; readonly sum: number };

const AGGREGATES: AggregateRequest['aggregates'] = [
  { field: 'v', type: 'float', functions: ['count', 'sum'] },
];

/** Rows of a measurement, or its aggregates, read in turns with everything else. */
export async function query(
  snapshot: SourceSnapshot,
  source: Source,
  aggregates: boolean,
  signal: AbortSignal = NEVER,
): Promise<ReadonlyMap<string, number> | Aggregates> {
  if (!aggregates) {
    const rows = new Map<string, number>();
    await eachStep(scanOf(snapshot, source), (batch) => {
      batch.times.forEach((time, i) => {
        const name = `${source.database}.${source.retentionPolicy} ${batch.seriesKey} ${time}`;
        rows.set(name, Number(columnValue(batch.columns[0]!, i)));
      });
    });
    return rows;
  }
  const request = {
    sources: [source],
    timeRange: RANGE,
    descending: false,
    groupBy: [],
    aggregates: AGGREGATES,
  };
  return aggregatesOf(snapshot.aggregate(request, { signal }));
}

async function aggregatesOf(work: Operator<AggregateBatch>): Promise<Aggregates> {
  let count = 0;
  let sum = 0;
  await eachStep(work, (batch) => {
    batch.windowStarts.forEach((_start, i) => {
      const [counts, sums] = batch.fields.flat();
      count += Number(columnValue(counts!.values, i));
      sum += Number(columnValue(sums!.values, i));
    });
  });
  return { count, sum };
}

async function eachStep<T>(work: Operator<T>, take: (value: T) => void): Promise<void> {
  for (const step of work) {
    if (isPause(step)) await step;
    else take(step);
  }
}
