// kapacitorLoopback: sends points into the engine's own write path.
import { parameter } from '../evaluate/parameter.ts';
import { callProperty, defineNode, stringProperty } from '../node-definition.ts';

export type KapacitorLoopbackOptions = {
  readonly database: string;
  readonly retentionPolicy: string;
  /** Empty keeps the point's. */
  readonly measurement: string;
  readonly tags: ReadonlyMap<string, string>;
};

export const kapacitorLoopbackNode = defineNode<KapacitorLoopbackOptions>({
  type: 'kapacitorLoopback',
  label: 'kapacitor_loopback',
  className: 'KapacitorLoopbackNode',
  category: 'output',
  summary: 'writes points back into the engine, for other tasks',
  wants: 'any',
  provides: 'none',
  parameters: [],
  create: () => ({ database: '', retentionPolicy: '', measurement: '', tags: new Map() }),
  properties: [
    stringProperty('database', 'database', 'database of the points'),
    stringProperty('retentionPolicy', 'retentionPolicy', 'retention policy of the points'),
    stringProperty('measurement', 'measurement', "measurement; the point's if not given"),
    callProperty(
      'tag',
      [parameter('name', 'string'), parameter('value', 'string')],
      'adds a tag',
      (options, values) => ({
        ...options,
        tags: new Map(options.tags).set(values.string(0), values.string(1)),
      }),
    ),
  ],
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
