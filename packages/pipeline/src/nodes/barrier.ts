// barrier: tells the nodes below that no older data comes.
import { booleanProperty, defineNode, durationProperty } from '../node-definition.ts';

/** Exactly one of the two is not zero. */
export type BarrierOptions = {
  readonly idleNanos: bigint;
  readonly periodNanos: bigint;
  readonly isDeletingGroup: boolean;
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
    if (idleNanos !== 0n && periodNanos !== 0n) return 'cannot specify both idle and period';
    if (periodNanos === 0n && idleNanos <= 0n) return 'idle must be greater than zero';
    if (idleNanos === 0n && periodNanos <= 0n) return 'period must be greater than zero';
    return undefined;
  },
});
