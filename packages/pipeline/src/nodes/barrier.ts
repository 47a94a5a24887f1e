// barrier: tells the nodes below that no older data will come.
import { defineNode } from '../definition/node-definition.ts';
import type { NodeDiagnostic } from '../definition/node-diagnostic.ts';
import { booleanOption, durationOption } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';

const BOTH: NodeDiagnostic = {
  text: 'cannot specify both idle and period',
  properties: ['period', 'idle'],
  hint: 'leave out .idle() or .period()',
};
const NO_IDLE: NodeDiagnostic = {
  text: 'idle must be greater than zero',
  properties: ['idle'],
  hint: 'set .idle(duration) or .period(duration)',
};
const NO_PERIOD: NodeDiagnostic = {
  text: 'period must be greater than zero',
  properties: ['period'],
  hint: 'write a positive duration, 10s',
};

export const barrierNode = defineNode({
  type: 'barrier',
  label: 'barrier',
  className: 'BarrierNode',
  category: 'transformation',
  summary: 'tells the nodes below that no older points come, so that they emit',
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  /** Exactly one of `idleNanos` and `periodNanos` is not zero. */
  options: {
    idleNanos: durationOption('idle', 'after no point has come for so long'),
    periodNanos: durationOption('period', 'at this interval'),
    isDeletingGroup: booleanOption('delete', 'forgets the group after each barrier'),
  },
  validate: ({ idleNanos, periodNanos }) => {
    if (idleNanos !== 0n && periodNanos !== 0n) return BOTH;
    if (periodNanos === 0n && idleNanos <= 0n) return NO_IDLE;
    if (idleNanos === 0n && periodNanos <= 0n) return NO_PERIOD;
    return undefined;
  },
});
