// What is rehearsed of the database (`@tidemark/core/rehearsal`): statements over points of no importance.
import type { RequestListener } from 'node:http';

import { Internal, NANOS_PER_WEEK } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { Rehearsal, RehearsalConnection } from '@tidemark/core/rehearsal';
import type { RehearsalStage, RequestState } from '@tidemark/core/rehearsal';
import type { StorageEngine } from '@tidemark/storage';

import { Catalog } from '../catalog/catalog.ts';
import { EMPTY_CATALOG } from '../catalog/model.ts';
import type { RetentionPolicy } from '../catalog/model.ts';
import { policyRef } from '../write/policy-ref.ts';
import { BODIES, REHEARSAL_DATABASE, rehearsalLines, rehearsalStatements } from './script.ts';

export type RehearsalOptions = {
  readonly clock: Clock;
  /** Opens an engine that keeps everything in memory. */
  readonly openStorage: () => Promise<StorageEngine>;
  /** Everything that answers requests, over that engine and catalog only. */
  readonly serve: (storage: StorageEngine, catalog: Catalog) => RequestListener;
  readonly requests: RequestState;
  /** How often the statements are run; more than the default changes little. */
  readonly rounds?: number | undefined;
  /** See `@tidemark/core/rehearsal`. */
  readonly quietMs?: number | undefined;
};

const ROUNDS = 40;

/** The rehearsal of statements. `run` and `close` it. */
export function rehearsalOf(options: RehearsalOptions): Rehearsal {
  const { rounds = ROUNDS, openStorage, clock, serve } = options;
  return new Rehearsal({
    ...options,
    rounds,
    open: async () => {
      const storage = await openStorage();
      try {
        await store(storage, clock);
      } catch (error) {
        await storage.close();
        throw error;
      }
      return stageOver(storage, serve(storage, Catalog.inMemory(STATE)));
    },
  });
}

function stageOver(storage: StorageEngine, listener: RequestListener): RehearsalStage {
  const connection = new RehearsalConnection(listener);
  const ask = async (statement: string): Promise<void> => {
    const path = `/query?db=${REHEARSAL_DATABASE}&q=${encodeURIComponent(statement)}`;
    const status = await connection.get(path);
    if (status !== 200) throw new Internal(`a rehearsed statement failed. status=${status}`);
  };
  return {
    steps: (round) => rehearsalStatements(round).map((statement) => () => ask(statement)),
    close: async () => {
      connection.close();
      await storage.close();
    },
  };
}

const POLICY: RetentionPolicy = {
  id: 2,
  name: 'autogen',
  durationNanos: 0n,
  shardDurationNanos: NANOS_PER_WEEK,
  replication: 1,
  subscriptions: [],
};

const DATABASE = {
  id: 1,
  name: REHEARSAL_DATABASE,
  policies: [POLICY],
  defaultPolicy: POLICY.name,
  continuousQueries: [],
};

const STATE = { ...EMPTY_CATALOG, databases: new Map([[DATABASE.name, DATABASE]]), nextId: 3 };

/** Most points in segments, the last ones in memory, as usual. */
async function store(storage: StorageEngine, clock: Clock): Promise<void> {
  const now = clock.now();
  const limits = { maxSeriesPerDatabase: 0, maxValuesPerTag: 0 };
  const policy = policyRef(DATABASE, POLICY, { now, limits });
  for (let i = 0; i < BODIES; i++) {
    await storage.writeLines({ policy, body: rehearsalLines(i), precision: 'ns', now });
    if (i < BODIES - 1) await storage.flush();
  }
}
