// Answers that the storage thread produces: the plans of a statement about each measurement, as a
// service would have cached them.
import { utf8Text } from '@tidemark/core';

import { SchemaVersions } from '../../../series/schema-version.ts';
import { HeldPlans } from '../../../thread/carried-plans.ts';
import type { FromEngine } from '../../../thread/protocol.ts';
import { ReadServer } from '../../../thread/read-server.ts';
import type { AnswerBatch } from '../../../thread/requests.ts';
import { DEFAULT_QUERY_LIMITS, executeSelect, isPause } from '@tidemark/query';
import type { AnswerRequest, MeasurementNames, SourceSnapshot } from '@tidemark/query';

import { openStorageInline } from '../../../engine/open-inline.ts';
import { CAPABILITIES } from '../../../read/local-source.ts';
import type { LocalSource } from '../../../read/local-source.ts';
import { memoryDisk } from '../../../disk/memory-disk.ts';
import { policyRef } from './catalog.ts';
import { DATABASES, MEASUREMENTS, POLICIES, RESTORED } from './operations.ts';
import type { Aggregates } from './subject.ts';

type Statement = Parameters<typeof executeSelect>[0];
type Source = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly measurement: string;
};

const PLANS = new Map<string, AnswerRequest>();

function keyOf({ database, retentionPolicy, measurement }: Source): string {
  return `${database}.${retentionPolicy}.${measurement}`;
}

/** Makes the plans, once for all runs. */
export async function preparePlans(): Promise<void> {
  if (PLANS.size > 0) return;
  const options = { directory: '/plans', hasBackgroundWork: false };
  const engine = await openStorageInline(options, { disk: memoryDisk() });
  let id = 1;
  for (const database of [...DATABASES, RESTORED]) {
    for (const retentionPolicy of POLICIES) {
      const policy = policyRef({ id: id++, database, retentionPolicy });
      const lines = MEASUREMENTS.map((measurement) => `${measurement},t=x v=1 1\n`);
      const body = new TextEncoder().encode(lines.join(''));
      await engine.writeLines({ policy, body, precision: 'ns', now: 1n });
      for (const measurement of MEASUREMENTS) {
        const source = { database, retentionPolicy, measurement };
        PLANS.set(keyOf(source), await planOf(source, engine.source.snapshot()));
      }
    }
  }
  await engine.close();
}

/** `SELECT count(v), sum(v) FROM …`: the first request plans it, the second returns the plan. */
async function planOf(
  { database, retentionPolicy, measurement }: Source,
  from: SourceSnapshot,
): Promise<AnswerRequest> {
  const span = { start: 0, end: 0 };
  const call = (name: string) => ({
    expression: { kind: 'call', name, arguments: [{ kind: 'reference', name: 'v', span }], span },
  });
  const sources = [{ kind: 'measurement', database, retentionPolicy, name: measurement, span }];
  const fields = [call('count'), call('sum')];
  // As the parser makes it, without the parts that are left out here.
  const statement = {
    kind: 'select',
    fields,
    sources,
    dimensions: [],
    shape: {},
    slots: [],
    span,
  } as unknown as Statement;
  let request: AnswerRequest | undefined;
  let names: readonly MeasurementNames[] | undefined;
  const snapshot: SourceSnapshot = {
    ...from,
    // As a service that knows them already.
    *names(filter, options) {
      const known = names ?? (yield* from.names(filter, options));
      names = known;
      return known;
    },
    *answer(asked) {
      request = asked;
      yield;
      return undefined;
    },
  };
  for (let i = 0; i < 2; i++) {
    const work = executeSelect(statement, {
      snapshot,
      capabilities: CAPABILITIES,
      catalog: {
        hasDatabase: () => true,
        hasRetentionPolicy: () => true,
        defaultRetentionPolicy: () => undefined,
        retentionPolicies: () => POLICIES,
      },
      now: 1n,
      limits: DEFAULT_QUERY_LIMITS,
      signal: new AbortController().signal,
      monotonicMs: () => 0,
      random: () => 0,
      onPartial: () => undefined,
      seriesText: { epoch: 'ns', maxRows: 100, append: () => undefined },
    });
    for (const step of work) if (isPause(step)) await step;
  }
  from.close();
  if (request === undefined) throw new Error('the thread is not asked');
  return request;
}

/** The storage thread's side of answers, for one engine. */
export class Asked {
  readonly #reads: ReadServer;
  #nextId = 1;
  readonly #waiting = new Map<
    number,
    {
      readonly resolve: (text: Uint8Array | undefined) => void;
      readonly reject: (error: unknown) => void;
    }
  >();

  constructor(source: LocalSource) {
    const nothing = (): void => undefined;
    this.#reads = new ReadServer({
      plans: new HeldPlans(),
      source,
      versions: new SchemaVersions(),
      shards: () => Promise.resolve([]),
      begin: nothing,
      answer: (message) => this.#collect(message),
      fail: (id, error) => this.#waiting.get(id)?.reject(error),
      abandon: nothing,
      ask: nothing,
    });
  }

  #collect(message: FromEngine): void {
    if (message.kind !== 'batches') return;
    for (const batch of message.batches as readonly AnswerBatch[]) {
      this.#waiting.get(message.id)?.resolve(batch.text);
    }
  }

  /** Count and sum of a measurement at the moment of the call. */
  async ask(source: Source): Promise<Aggregates> {
    const { plan, limits, bound, range, epoch } = PLANS.get(keyOf(source))!;
    const id = this.#nextId++;
    const text = await new Promise<Uint8Array | undefined>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const carried = { plan, limits, place: 0 };
      const asked = { plan: carried, bound, ...range, epoch };
      this.#reads.open({ kind: 'read', name: 'answer', id, request: asked, takesPartial: true });
    });
    this.#waiting.delete(id);
    return aggregatesIn(text === undefined ? '' : utf8Text(text));
  }

  /** Cancels all answers. */
  cancelAll(): void {
    this.#reads.cancelAll();
  }
}

/** The series of an answer, the text between its brackets. */
function aggregatesIn(text: string): Aggregates {
  const found = /"values":\[\[\d+,(\d+),(\d+)\]/.exec(text);
  return { count: Number(found?.[1] ?? 0), sum: Number(found?.[2] ?? 0) };
}
