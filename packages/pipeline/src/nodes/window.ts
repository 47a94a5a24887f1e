// window: collects the points of a group by time or by count and emits them as batches.
import { defineNode, durationProperty, flagProperty, integerProperty } from '../node-definition.ts';

export type WindowOptions = {
  readonly periodNanos: bigint;
  /** 0 emits on every point. */
  readonly everyNanos: bigint;
  readonly isAligned: boolean;
  readonly isFillingPeriod: boolean;
  readonly periodCount: bigint;
  readonly everyCount: bigint;
};

export const windowNode = defineNode<WindowOptions>({
  type: 'window',
  label: 'window',
  className: 'WindowNode',
  category: 'transformation',
  summary: 'collects points and emits them as batches',
  wants: 'stream',
  provides: 'batch',
  refuses: {
    edge: 'batch',
    text: 'cannot Window batch edge',
    hint: "make points of the batches first, with |trickle() or |mean('field')",
  },
  parameters: [],
  create: () => ({
    periodNanos: 0n,
    everyNanos: 0n,
    isAligned: false,
    isFillingPeriod: false,
    periodCount: 0n,
    everyCount: 0n,
  }),
  properties: [
    durationProperty('period', 'periodNanos', 'length of the window'),
    durationProperty('every', 'everyNanos', 'time between two batches; 0 emits with every point'),
    flagProperty('align', 'isAligned', 'windows end at multiples of every'),
    flagProperty('fillPeriod', 'isFillingPeriod', 'the first batch waits for a full period'),
    integerProperty('periodCount', 'periodCount', 'points of the window'),
    integerProperty('everyCount', 'everyCount', 'points between two batches'),
  ],
  validate: (options) => {
    if (options.periodNanos !== 0n && options.periodCount !== 0n) {
      return {
        text: 'cannot specify both period and periodCount',
        properties: ['periodCount', 'period'],
        hint: 'leave out .period() or .periodCount()',
      };
    }
    if (options.periodCount === 0n) return undefined;
    if (options.periodCount < 0n) {
      return {
        text: 'periodCount must be greater than zero',
        properties: ['periodCount'],
        hint: 'write how many points a window has: .periodCount(10)',
      };
    }
    if (options.isAligned) {
      return {
        text: 'can only align windows based off time, not count',
        properties: ['align'],
        hint: 'leave out .align(), or write .period(duration)',
      };
    }
    return options.everyCount <= 0n
      ? {
          text: 'everyCount must be greater than zero',
          properties: ['everyCount'],
          hint: 'write .everyCount(1) for a batch with every point',
        }
      : undefined;
  },
  checkStart: (options) =>
    options.periodNanos === 0n && options.periodCount === 0n
      ? [
          {
            text: 'window node must have either a non zero period or non zero period count',
            properties: ['period', 'periodCount'],
            hint: 'say how long a window is: .period(10s) or .periodCount(10)',
          },
        ]
      : [],
});
