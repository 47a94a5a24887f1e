// The plan of a run, by its seed: operations and their times. A plan is data, so that a failing one
// can be shrunk.
import { seededRandom } from '@tidemark/testkit';
import { POINTS_LEVEL } from '../../../../packages/engine/src/cluster/point-record.ts';
import { FAULTS, interruptedBegin, LOSSES } from '../faults/faults.ts';
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
const LENGTH_MS = 5000;
/** Tasks are there, mostly, when faults begin. */
const BEGIN_MS = 1000;
const POSTING = ['posting'] as const;
const POINTS_MAX = 3;
const AGO_MS = 1500;
const PARTS_MAX = 3;

export type Plan = {
  readonly seed: number;
  /** The first instance has definitions, and the others start later. */
  readonly hasOwn: boolean;
  /** What may be written from the beginning: all instances have known it for long. */
  readonly level: number;
  readonly tasks: readonly TaskName[];
  /** In how many parts tasks with groups run. */
  readonly parts: number;
  /** At most so long a message between threads takes, in ms. */
  readonly threadDelayMs: number;
  readonly steps: readonly Step[];
};

export function planOf(seed: number): Plan {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const steps: Step[] = [];
  // Enough for the first leader, mostly.
  let atMs = below(500);
  let n = 0;
  for (let number = 0; atMs < LENGTH_MS; number++) {
    const id = `d${below(DEFINITIONS)}`;
    const dice = random();
    if (dice < 0.2) {
      const value = `${random() < 0.3 ? RUNS : 'v'}${number}`;
      steps.push({ atMs, operation: { kind: 'define', id, value } });
    } else if (dice < 0.28) steps.push({ atMs, operation: { kind: 'remove', id } });
    else {
      const form = random() < 0.1 ? 'long' : random() < 0.2 ? 'points' : 'lines';
      const points = Array.from({ length: 1 + below(POINTS_MAX) }, () => ({
        n: ++n,
        g: GROUPS[below(GROUPS.length)] ?? '',
        v: below(11),
        agoMs: random() < 0.1 ? below(AGO_MS) : 0,
      }));
      steps.push({ atMs, operation: { kind: 'write', form, points } });
    }
    atMs += 20 + below(300);
  }
  const hasOwn = random() < 0.2;
  const isLoss = random() < 0.1;
  const kinds = isLoss ? LOSSES : FAULTS;
  if (hasOwn && !isLoss && random() < 0.7) steps.push(...interruptedBegin({ atMs: 0, below }));
  for (let left = isLoss ? 1 : below(FAULTS_MAX) + 1; left > 0; left--) {
    const begin = BEGIN_MS + below(LENGTH_MS - BEGIN_MS);
    const fault = kinds[below(kinds.length)];
    if (fault !== undefined) steps.push(...fault({ atMs: begin, below }));
  }
  const isPosting = random() < 0.2;
  const isHanging = steps.some(({ operation }) => operation.kind === 'hang');
  return {
    seed,
    hasOwn,
    level: random() < 0.8 ? POINTS_LEVEL : 1,
    tasks: ['windows', 'totals', 'levels', ...(isPosting || isHanging ? POSTING : [])],
    parts: 1 + below(PARTS_MAX),
    threadDelayMs: random() < 0.5 ? 0 : below(30),
    steps: steps.sort((a, b) => a.atMs - b.atMs),
  };
}
