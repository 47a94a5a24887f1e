// default: sets fields and tags that a point lacks.
import { parameter } from '../evaluate/parameter.ts';
import { callProperty, defineNode } from '../node-definition.ts';
import { typeName } from '../evaluate/value.ts';
import type { Value } from '../evaluate/value.ts';
import type { FieldValue } from '@tidemark/core';

export type DefaultOptions = {
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly tags: ReadonlyMap<string, string>;
};

export const defaultNode = defineNode<DefaultOptions>({
  type: 'default',
  label: 'default',
  className: 'DefaultNode',
  category: 'transformation',
  summary: 'sets fields and tags which a point lacks',
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({ fields: new Map(), tags: new Map() }),
  properties: [
    callProperty(
      'field',
      [parameter('name', 'string'), parameter('value', 'any')],
      'value of a field that is missing or null',
      (options, values) => {
        const name = values.string(0);
        const value = fieldValueOf(values.values[1]);
        if (value === undefined) {
          const type = values.values[1] === undefined ? 'nil' : typeName(values.values[1]);
          values.refuseLater(
            `unsupported type ${type} for field "${name}", field default values must be float,int,string or bool`,
            { found: type, expected: ['float', 'int', 'string', 'bool'] },
          );
          return options;
        }
        return { ...options, fields: new Map(options.fields).set(name, value) };
      },
    ),
    callProperty(
      'tag',
      [parameter('name', 'string'), parameter('value', 'string')],
      'value of a tag that is missing or empty',
      (options, values) => ({
        ...options,
        tags: new Map(options.tags).set(values.string(0), values.string(1)),
      }),
    ),
  ],
});

function fieldValueOf(value: Value | undefined): FieldValue | undefined {
  switch (value?.kind) {
    case 'boolean':
    case 'integer':
    case 'float':
    case 'string':
      return value.value;
    default:
      return undefined;
  }
}
