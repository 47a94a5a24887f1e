// httpOut: keeps the latest row of each group and serves it over HTTP.
import { defineNode } from '../definition/node-definition.ts';
import { stringArgument } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';

export const httpOutNode = defineNode({
  type: 'httpOut',
  label: 'http_out',
  className: 'HTTPOutNode',
  category: 'output',
  summary: "serves the latest row of each group at the task's address",
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  options: { endpoint: stringArgument('endpoint') },
  effects: ({ endpoint }) => ({ serves: endpoint }),
});
