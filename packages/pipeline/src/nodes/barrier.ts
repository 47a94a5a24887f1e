// barrier: tells the nodes below that no older data comes.
import type { NodeProblem } from '../node-problem.ts';
import { booleanProperty, defineNode, durationProperty } from '../node-definition.ts';

/** Exactly one of the two is not zero. */
export type BarrierOptions = {
  readonly idleNanos: bigint;
  readonly periodNanos: bigint;
  readonly isDeletingGroup: boolean;
};

const BOTH: NodeProblem = {
  text: 'cannot specify both idle and period',
  properties: ['period', 'idle'],
  hint: 'leave out .idle() or .period()',
};
const NO_IDLE: NodeProblem = {
  text: 'idle must be greater than zero',
  properties: ['idle'],
  hint: 'set .idle(duration) or .period(duration)',
};
const NO_PERIOD: NodeProblem = {
  text: 'period must be greater than zero',
  properties: ['period'],
  hint: 'write a positive duration, 10s',
};

export const barrierNode = defineNode<BarrierOptions>({
  type: 'barrier',
  label: 'barrier',
  className: 'BarrierNode',
  category: 'transformation',
  summary: 'tells the nodes below that no older points come, so that they emit',
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({ idleNanos: 0n, periodNanos: 0n, isDeletingGroup: false }),
  properties: [
    durationProperty('idle', 'idleNanos', 'after no point has come for so long'),
    durationProperty('period', 'periodNanos', 'at this interval'),
    booleanProperty('delete', 'isDeletingGroup', 'forgets the group after each barrier'),
  ],
  validate: ({ idleNanos, periodNanos }) => {
    if (idleNanos !== 0n && periodNanos !== 0n) return BOTH;
    if (periodNanos === 0n && idleNanos <= 0n) return NO_IDLE;
    if (idleNanos === 0n && periodNanos <= 0n) return NO_PERIOD;
    return undefined;
  },
});
