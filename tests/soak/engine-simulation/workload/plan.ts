// What happens in a run, by its seed: an operation and when. A plan is data, so that a failing one
// can be made shorter.
import { seededRandom } from '@tidemark/testkit';
import { FAULTS, interruptedBegin, LOSSES } from '../faults/faults.ts';
import type { Fault } from '../faults/faults.ts';

export type Operation =
  | { readonly kind: 'define'; readonly id: string; readonly value: string }
  | { readonly kind: 'remove'; readonly id: string }
  | { readonly kind: 'write'; readonly point: string }
  | Fault;

export type Step = { readonly atMs: number; readonly operation: Operation };

const DEFINITIONS = 5;
const FAULTS_MAX = 6;
const LENGTH_MS = 8000;

export type Plan = {
  readonly seed: number;
  /** The first instance has definitions, and the others start later. */
  readonly hasOwn: boolean;
  readonly steps: readonly Step[];
};

export function planOf(seed: number): Plan {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const steps: Step[] = [];
  // Enough for the first leader, mostly.
  let atMs = below(500);
  for (let number = 0; atMs < LENGTH_MS; number++) {
    const id = `d${below(DEFINITIONS)}`;
    const dice = random();
    if (dice < 0.25) steps.push({ atMs, operation: { kind: 'define', id, value: `v${number}` } });
    else if (dice < 0.35) steps.push({ atMs, operation: { kind: 'remove', id } });
    else steps.push({ atMs, operation: { kind: 'write', point: `p${number}` } });
    atMs += 20 + below(300);
  }
  const hasOwn = random() < 0.2;
  const isLoss = random() < 0.1;
  const kinds = isLoss ? LOSSES : FAULTS;
  if (hasOwn && !isLoss && random() < 0.7) steps.push(...interruptedBegin({ atMs: 0, below }));
  for (let left = isLoss ? 1 : below(FAULTS_MAX) + 1; left > 0; left--) {
    const begin = 1500 + below(LENGTH_MS - 3000);
    const fault = kinds[below(kinds.length)];
    if (fault !== undefined) steps.push(...fault({ atMs: begin, below }));
  }
  return { seed, hasOwn, steps: steps.sort((a, b) => a.atMs - b.atMs) };
}
