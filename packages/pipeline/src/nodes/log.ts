// log: writes every point or batch to the task's log.
import { defineNode } from '../definition/node-definition.ts';
import { stringOption } from '../definition/option.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const logNode = defineNode({
  type: 'log',
  label: 'log',
  className: 'LogNode',
  category: 'output',
  summary: "writes points or batches to the task's log and passes them on",
  wants: 'any',
  provides: 'same',
  split: PER_MESSAGE,
  options: {
    level: stringOption('level', 'DEBUG, INFO, WARN or ERROR', 'INFO'),
    prefix: stringOption('prefix', 'text before each message'),
  },
  effects: () => ({ keepsNames: true }),
});
