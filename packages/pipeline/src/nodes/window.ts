// window: collects the points of a group by time or by count and emits them as batches.
import { defineNode } from '../definition/node-definition.ts';
import type { OptionsOfNode } from '../definition/node-definition.ts';
import { durationOption, flagOption, integerOption } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';

export const windowNode = defineNode({
  type: 'window',
  label: 'window',
  className: 'WindowNode',
  category: 'transformation',
  summary: 'collects points and emits them as batches',
  wants: 'stream',
  provides: 'batch',
  split: PER_GROUP,
  refuses: {
    edge: 'batch',
    text: 'cannot Window batch edge',
    hint: "make points of the batches first, with |trickle() or |mean('field')",
  },
  options: {
    periodNanos: durationOption('period', 'length of the window'),
    everyNanos: durationOption('every', 'time between two batches; 0 emits with every point'),
    isAligned: flagOption('align', 'windows end at multiples of every'),
    isFillingPeriod: flagOption('fillPeriod', 'the first batch waits for a full period'),
    periodCount: integerOption('periodCount', 'points of the window'),
    everyCount: integerOption('everyCount', 'points between two batches'),
  },
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
  effects: () => ({ keepsNames: true }),
});

export type WindowOptions = OptionsOfNode<typeof windowNode>;
