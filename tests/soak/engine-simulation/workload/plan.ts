// The plan of a run, by its seed: operations and their times. A plan is data, so that a failing one
// can be shrunk.
import { assert } from '@tidemark/core';
import { seededRandom } from '@tidemark/testkit';
import { POINTS_LEVEL } from '../../../../packages/engine/src/shared-log/point-record.ts';
import { AIMED, FAULTS, interruptedBegin, LOSSES } from '../faults/faults.ts';
import type { Fault } from '../faults/faults.ts';
import { GROUPS, RUNS } from './tasks.ts';
import type { TaskName } from './tasks.ts';

/** A point of a client. */
export type PlannedPoint = {
  /** Each has another one. */
  readonly n: number;
  readonly g: string;
  readonly v: number;
  /** So much older than its write. */
  readonly agoMs: number;
};

/** How points are written: as lines, as a body that several records carry, or by a listener. */
export type WriteForm = 'lines' | 'long' | 'points';

export type Operation =
  | { readonly kind: 'define'; readonly id: string; readonly value: string }
  | { readonly kind: 'remove'; readonly id: string }
  | {
      readonly kind: 'write';
      readonly form: WriteForm;
      readonly points: readonly PlannedPoint[];
    }
  | Fault;

export type Step = { readonly atMs: number; readonly operation: Operation };

const DEFINITIONS = 5;
const FAULTS_MAX = 6;
/** Every so many runs have a fault that is aimed, besides the others. */
const AIMED_EVERY = 9;
/** Of so many runs one has files with definitions, by its seed alone. */
const FILES_EVERY = 17;
const FILES_AT = 6;
const LENGTH_MS = { least: 1500, more: 3000 };
/** Tasks are there, mostly, when faults begin. */
const BEGIN_MS = 1000;
const POSTING = ['posting'] as const;
const POINTS_MAX = 3;
const AGO_MS = 1500;
const PARTS_MAX = 3;
/** The pause between two operations, at most; each run has one of these. */
const PAUSES_MS = [50, 150, 300];
/** How many records are read with one request; each run has one of these. */
const RECORDS_AT_ONCE = [1, 3, 1000, 1000];
/** How much of all operations defines, and how much writes; each run has one of these. */
const SHARES = [
  { define: 0.2, write: 0.72 },
  { define: 0.5, write: 0.4 },
  { define: 0, write: 1 },
];

export type Plan = {
  readonly seed: number;
  /** The first instance has definitions, and the others start later. */
  readonly hasOwn: boolean;
  /** The first leader has a load directory; those of the others are missing. */
  readonly hasFiles: boolean;
  /** The format level that may be written from the beginning: all instances have long known it. */
  readonly level: number;
  readonly tasks: readonly TaskName[];
  /** In how many parts tasks with groups run. */
  readonly parts: number;
  /** So many records are read with one request. */
  readonly recordsAtOnce: number;
  /** At most so long a message between threads takes, in ms. */
  readonly threadDelayMs: number;
  readonly steps: readonly Step[];
};

/** The part of a run decided by its seed; each run has only some of the operations and faults. */
export function planOf(seed: number): Plan {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <T>(choices: readonly T[]): T => {
    const choice = choices[below(choices.length)];
    assert(choice !== undefined, 'there is something to choose');
    return choice;
  };
  const lengthMs = LENGTH_MS.least + below(LENGTH_MS.more);
  const steps: Step[] = operations({ lengthMs, below, random, oneOf });
  const hasOwn = random() < 0.2;
  const isLoss = random() < 0.1;
  if (hasOwn && !isLoss && random() < 0.7) steps.push(...interruptedBegin({ atMs: 0, below }));
  const kinds = isLoss ? LOSSES : FAULTS.filter(() => random() < 0.5);
  for (let left = isLoss ? 1 : below(FAULTS_MAX) + 1; left > 0 && kinds.length > 0; left--) {
    const atMs = BEGIN_MS + below(lengthMs - BEGIN_MS);
    steps.push(...oneOf(kinds)({ atMs, below }));
  }
  const isPosting = random() < 0.2;
  const isHanging = steps.some(({ operation }) => operation.kind === 'hang');
  const plan: Omit<Plan, 'steps'> = {
    seed,
    hasOwn,
    hasFiles: seed % FILES_EVERY === FILES_AT,
    level: random() < 0.8 ? POINTS_LEVEL : 1,
    tasks: ['windows', 'totals', 'levels', ...(isPosting || isHanging ? POSTING : [])],
    parts: 1 + below(PARTS_MAX),
    recordsAtOnce: oneOf(RECORDS_AT_ONCE),
    threadDelayMs: random() < 0.5 ? 0 : below(30),
  };
  if (seed % AIMED_EVERY === 0) {
    const atMs = BEGIN_MS + below(lengthMs - BEGIN_MS);
    steps.push(...oneOf(AIMED)({ atMs, below }));
  }
  return { ...plan, steps: steps.sort((a, b) => a.atMs - b.atMs) };
}

type Chances = {
  readonly lengthMs: number;
  readonly below: (count: number) => number;
  readonly random: () => number;
  readonly oneOf: <T>(choices: readonly T[]) => T;
};

function operations({ lengthMs, below, random, oneOf }: Chances): Step[] {
  const steps: Step[] = [];
  const shares = oneOf(SHARES);
  const pauseMs = oneOf(PAUSES_MS);
  let n = 0;
  // Enough for the first leader, mostly.
  for (let number = 0, atMs = below(500); atMs < lengthMs; number++) {
    const id = `d${below(DEFINITIONS)}`;
    const dice = random();
    if (dice < shares.define) {
      const value = `${random() < 0.3 ? RUNS : 'v'}${number}`;
      steps.push({ atMs, operation: { kind: 'define', id, value } });
    } else if (dice < 1 - shares.write) {
      steps.push({ atMs, operation: { kind: 'remove', id } });
    } else {
      const form = random() < 0.1 ? 'long' : random() < 0.2 ? 'points' : 'lines';
      const points = Array.from({ length: 1 + below(POINTS_MAX) }, () => ({
        n: ++n,
        g: oneOf(GROUPS),
        v: below(11),
        agoMs: random() < 0.1 ? below(AGO_MS) : 0,
      }));
      steps.push({ atMs, operation: { kind: 'write', form, points } });
    }
    atMs += 10 + below(pauseMs);
  }
  return steps;
}
