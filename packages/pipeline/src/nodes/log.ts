// log: writes every point or batch to the task's log.
import { defineNode, stringProperty } from '../node-definition.ts';

export type LogOptions = { readonly level: string; readonly prefix: string };

export const logNode = defineNode<LogOptions>({
  type: 'log',
  label: 'log',
  className: 'LogNode',
  category: 'output',
  summary: "writes points or batches to the task's log and passes them on",
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({ level: 'INFO', prefix: '' }),
  properties: [
    stringProperty('level', 'level', 'DEBUG, INFO, WARN or ERROR'),
    stringProperty('prefix', 'prefix', 'text before each message'),
  ],
});
