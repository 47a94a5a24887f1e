// The operations of a simulation, as plain data: a plan is a list of operations that a seed
// chooses. Failures of the machine are operations too.
import { randomNumbers } from '../../simulated-disk.ts';

export const DATABASES = ['a', 'b'] as const;
/** Restores go to this one. */
export const RESTORED = 'r';
export const POLICIES = ['p', 'q'] as const;
export const MEASUREMENTS = ['m', 'n'] as const;
export const TAGS = ['t=x', 't=y', 't=z'] as const;
/** Times are in [0, `TIME_END`), and a shard covers `SHARD_LENGTH` of them. */
export const TIME_END = 12;
export const SHARD_LENGTH = 6;

export type Scope = {
  readonly database: string;
  readonly retentionPolicy?: string | undefined;
  readonly measurement?: string | undefined;
  readonly tag?: string | undefined;
  /** Inclusive. */
  readonly times?: readonly [from: number, to: number] | undefined;
};

/** Rows, aggregates, or an answer that the storage thread encodes. */
export type QueryKind = 'scan' | 'aggregate' | 'answer';

export type Operation =
  | {
      readonly kind: 'write';
      readonly database: string;
      readonly retentionPolicy: string;
      readonly lines: readonly (readonly [measurement: string, tag: string, time: number])[];
    }
  | ({ readonly kind: 'delete' } & Scope)
  | {
      readonly kind: 'drop-measurement';
      readonly database: string;
      readonly measurement: string;
    }
  | { readonly kind: 'drop-policy'; readonly database: string; readonly retentionPolicy: string }
  | { readonly kind: 'drop-database'; readonly database: string }
  /** The oldest shard of a policy, as retention does. */
  | { readonly kind: 'expire'; readonly database: string; readonly retentionPolicy: string }
  | {
      readonly kind: 'query';
      readonly database: string;
      readonly retentionPolicy: string;
      readonly measurement: string;
      readonly how: QueryKind;
    }
  | { readonly kind: 'flush' | 'compact' | 'backup' | 'restore' | 'close' }
  | { readonly kind: 'fail-sync'; readonly of: SyncedThing; readonly count: number }
  | { readonly kind: 'power-cut' | 'kill' | 'wait' };

/** Syncs of folders make the names of their files durable. */
export type SyncedThing = 'files' | 'folders';

/** The engine's settings in a simulation. */
export type Setup = {
  readonly fsync: 'always' | 'interval';
  readonly hasBackgroundWork: boolean;
  /** Bodies are written line by line, more or less. */
  readonly hasParts: boolean;
  /** Operations that run at once. */
  readonly concurrency: number;
};

export type Plan = {
  readonly seed: number;
  readonly setup: Setup;
  readonly operations: readonly Operation[];
};

const OPERATIONS_MAX = 36;

export function planOf(seed: number): Plan {
  const random = randomNumbers(Math.imul(seed + 7, 0x85ebca6b));
  // The first numbers of neighbouring seeds are alike.
  for (let i = 0; i < 8; i++) random();
  const pick = (end: number): number => Math.floor(random() * end);
  const setup: Setup = {
    fsync: pick(4) === 0 ? 'interval' : 'always',
    hasBackgroundWork: pick(2) === 0,
    hasParts: pick(3) === 0,
    concurrency: 2 + pick(4),
  };
  const count = 10 + pick(OPERATIONS_MAX - 10);
  const operations = Array.from({ length: count }, () => operation(pick));
  return { seed, setup, operations };
}

type Pick = (end: number) => number;

function one<T>(pick: Pick, list: readonly T[]): T {
  return list[pick(list.length)]!;
}

/** How often each kind is chosen, in hundredths. */
const WEIGHTS: readonly (readonly [weight: number, make: (pick: Pick) => Operation])[] = [
  [32, write],
  [11, remove],
  [
    3,
    (pick) => ({
      kind: 'drop-measurement',
      ...database(pick),
      measurement: one(pick, MEASUREMENTS),
    }),
  ],
  [4, (pick) => ({ kind: 'drop-policy', ...policy(pick) })],
  [3, (pick) => ({ kind: 'drop-database', database: one(pick, [...DATABASES, RESTORED]) })],
  [3, (pick) => ({ kind: 'expire', ...policy(pick) })],
  [12, query],
  [12, () => ({ kind: 'flush' })],
  [9, () => ({ kind: 'compact' })],
  [3, () => ({ kind: 'backup' })],
  [3, () => ({ kind: 'restore' })],
  [1, () => ({ kind: 'close' })],
  [2, () => ({ kind: 'power-cut' })],
  [1, () => ({ kind: 'kill' })],
  [1, failSync],
  [3, () => ({ kind: 'wait' })],
];

function operation(pick: Pick): Operation {
  let left = pick(WEIGHTS.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, make] of WEIGHTS) {
    if (left < weight) return make(pick);
    left -= weight;
  }
  return { kind: 'flush' };
}

function database(pick: Pick): { readonly database: string } {
  // One of them is used more often, so that concurrent operations concern the same rows.
  return { database: pick(4) === 0 ? DATABASES[1] : DATABASES[0] };
}

function policy(pick: Pick): { readonly database: string; readonly retentionPolicy: string } {
  return { ...database(pick), retentionPolicy: pick(4) === 0 ? POLICIES[1] : POLICIES[0] };
}

function write(pick: Pick): Operation {
  const lines = Array.from(
    { length: 1 + pick(4) },
    () => [one(pick, MEASUREMENTS), one(pick, TAGS), pick(TIME_END)] as const,
  );
  return { kind: 'write', ...policy(pick), lines };
}

function remove(pick: Pick): Operation {
  const from = pick(TIME_END);
  return {
    kind: 'delete',
    ...database(pick),
    retentionPolicy: pick(4) === 0 ? one(pick, POLICIES) : undefined,
    measurement: pick(2) === 0 ? one(pick, MEASUREMENTS) : undefined,
    tag: pick(2) === 0 ? one(pick, TAGS) : undefined,
    times: pick(2) === 0 ? [from, from + pick(TIME_END - from)] : undefined,
  };
}

/** The log is written to its file and, when that fails, to a new one. */
function failSync(pick: Pick): Operation {
  return { kind: 'fail-sync', of: pick(4) === 0 ? 'folders' : 'files', count: 1 + pick(4) };
}

function query(pick: Pick): Operation {
  const measurement = one(pick, MEASUREMENTS);
  const how = one(pick, ['scan', 'aggregate', 'answer'] as const);
  return { kind: 'query', ...policy(pick), measurement, how };
}
