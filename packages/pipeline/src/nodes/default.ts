// default: sets fields and tags that a point lacks.
import type { FieldValue } from '@tidemark/core';
import { parameter } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { typeName } from '../evaluate/value.ts';
import type { Value } from '../evaluate/value.ts';
import { defineNode } from '../definition/node-definition.ts';
import { callOption, stringMapOption } from '../definition/option.ts';

type Fields = ReadonlyMap<string, FieldValue>;

export const defaultNode = defineNode({
  type: 'default',
  label: 'default',
  className: 'DefaultNode',
  category: 'transformation',
  summary: 'sets fields and tags which a point lacks',
  wants: 'any',
  provides: 'same',
  split: ({ tags }) => ({ kind: 'message', setsTags: [...tags.keys()] }),
  options: {
    fields: callOption<Fields>(new Map(), {
      name: 'field',
      summary: 'value of a field that is missing or null',
      parameters: [parameter('name', 'string'), parameter('value', 'any')],
      apply: withField,
    }),
    tags: stringMapOption('tag', 'value of a tag that is missing or empty'),
  },
});

function withField(fields: Fields, values: Arguments): Fields {
  const name = values.string(0);
  const [, given] = values.values;
  const value = fieldValueOf(given);
  values.replaces(name);
  if (value !== undefined) return new Map(fields).set(name, value);
  const type = given === undefined ? 'nil' : typeName(given);
  values.refuseLater(
    `unsupported type ${type} for field "${name}", field default values must be float,int,string or bool`,
    { found: type, expected: ['float', 'int', 'string', 'bool'] },
    name,
  );
  return fields;
}

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
