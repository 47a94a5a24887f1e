// sideload: adds fields and tags from files or HTTP.
import { parameter, variadic } from '../evaluate/parameter.ts';
import { callProperty, defineNode, stringProperty } from '../node-definition.ts';
import { specValueOf } from '../evaluate/value.ts';
import type { SpecValue } from '../pipeline.ts';

export type SideloadOptions = {
  readonly source: string;
  /** Templates over the tags of a point; the first that has a key wins. */
  readonly order: readonly string[];
  readonly fields: ReadonlyMap<string, SpecValue>;
  readonly tags: ReadonlyMap<string, string>;
};

const SCHEMES = ['file', 'http', 'https'];

export const sideloadNode = defineNode<SideloadOptions>({
  type: 'sideload',
  label: 'sideload',
  className: 'SideloadNode',
  category: 'transformation',
  summary: 'adds fields and tags from files or from an HTTP service',
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({ source: '', order: [], fields: new Map(), tags: new Map() }),
  properties: [
    stringProperty('source', 'source', 'file:///directory, http(s)://…, or a configured endpoint'),
    callProperty(
      'order',
      [variadic('template', 'string')],
      'paths to look at, as templates over the tags; the first one that has a key wins',
      (options, values) => ({ ...options, order: values.strings(0) }),
    ),
    callProperty(
      'field',
      [parameter('name', 'string'), parameter('default', 'any')],
      'adds a field; its value is converted to the type of the default',
      (options, values) => {
        const [, given] = values.values;
        const value = given === undefined ? undefined : specValueOf(given);
        if (value === undefined) return options;
        return { ...options, fields: new Map(options.fields).set(values.string(0), value) };
      },
    ),
    callProperty(
      'tag',
      [parameter('name', 'string'), parameter('default', 'string')],
      'adds a tag',
      (options, values) => ({
        ...options,
        tags: new Map(options.tags).set(values.string(0), values.string(1)),
      }),
    ),
  ],
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
});
