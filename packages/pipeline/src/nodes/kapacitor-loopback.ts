// kapacitorLoopback: sends points into the engine's own write path.
import { defineNode } from '../definition/node-definition.ts';
import { stringMapOption, stringOption } from '../definition/option.ts';
import { PER_MESSAGE } from '../definition/split.ts';

export const kapacitorLoopbackNode = defineNode({
  type: 'kapacitorLoopback',
  label: 'kapacitor_loopback',
  className: 'KapacitorLoopbackNode',
  category: 'output',
  summary: 'writes points back into the engine, for other tasks',
  wants: 'any',
  provides: 'none',
  split: PER_MESSAGE,
  options: {
    database: stringOption('database', 'database of the points'),
    retentionPolicy: stringOption('retentionPolicy', 'retention policy of the points'),
    measurement: stringOption('measurement', "measurement; the point's if not given"),
    tags: stringMapOption('tag', 'adds a tag'),
  },
  validate: ({ database, retentionPolicy }) => {
    if (database === '') {
      return {
        text: 'must specify a database',
        properties: ['database'],
        hint: "name it: .database('name')",
      };
    }
    return retentionPolicy === ''
      ? {
          text: 'must specify a retention policy',
          properties: ['retentionPolicy'],
          hint: "name it: .retentionPolicy('name')",
        }
      : undefined;
  },
  checkStart: ({ database, retentionPolicy }, { dbrps }) =>
    dbrps.some((each) => each.database === database && each.retentionPolicy === retentionPolicy)
      ? [
          {
            text: `loop detected on dbrp: ${JSON.stringify(database)}.${JSON.stringify(retentionPolicy)}`,
            properties: ['database', 'retentionPolicy'],
            found: `${JSON.stringify(database)}.${JSON.stringify(retentionPolicy)}`,
            hint: 'write to a database and policy that the task does not read',
          },
        ]
      : [],
});
