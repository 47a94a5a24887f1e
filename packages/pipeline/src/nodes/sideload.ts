// sideload: adds fields and tags from files or HTTP.
import { parameter } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { specValueOf } from '../evaluate/value.ts';
import { defineNode } from '../definition/node-definition.ts';
import type { OptionsOfNode } from '../definition/node-definition.ts';
import { callOption, folderOption, stringMapOption, stringsOption } from '../definition/option.ts';
import type { SpecValue } from '../pipeline.ts';

type Fields = ReadonlyMap<string, SpecValue>;

const SCHEMES = ['file', 'http', 'https'];

export const sideloadNode = defineNode({
  type: 'sideload',
  label: 'sideload',
  className: 'SideloadNode',
  category: 'transformation',
  summary: 'adds fields and tags from files or from an HTTP service',
  wants: 'any',
  provides: 'same',
  split: ({ tags }) => ({ kind: 'message', setsTags: [...tags.keys()] }),
  options: {
    source: folderOption('source', 'file:///directory, http(s)://…, or a configured endpoint'),
    /** Templates over the tags of a point. */
    order: stringsOption(
      'order',
      'paths to look at, as templates over the tags; the first one that has a key wins',
      'template',
    ),
    fields: callOption<Fields>(new Map(), {
      name: 'field',
      summary: 'adds a field; its value is converted to the type of the default',
      parameters: [parameter('name', 'string'), parameter('default', 'any')],
      apply: withField,
    }),
    tags: stringMapOption('tag', 'adds a tag', ['name', 'default']),
  },
  checkStart: ({ source }) => {
    const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(source)?.[1];
    // A plain word may be the name of an endpoint, which only the engine knows.
    const isRefused = source === '' || (scheme !== undefined && !SCHEMES.includes(scheme));
    return isRefused
      ? [
          {
            text: `unsupported source scheme ${JSON.stringify(scheme ?? '')}, must be 'file'`,
            properties: ['source'],
            found: scheme ?? 'nothing',
            expected: SCHEMES,
            hint: "write .source('file:///path/to/directory')",
          },
        ]
      : [];
  },
  effects: ({ source }) => ({
    readsFolder: source.startsWith('file://') ? source : undefined,
  }),
});

export type SideloadOptions = OptionsOfNode<typeof sideloadNode>;

function withField(fields: Fields, values: Arguments): Fields {
  const [, given] = values.values;
  const value = given === undefined ? undefined : specValueOf(given);
  return value === undefined ? fields : new Map(fields).set(values.string(0), value);
}
