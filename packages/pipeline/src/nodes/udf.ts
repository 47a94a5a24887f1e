// @name: a user-defined function, run outside the engine.
import { ArgumentFailure } from '../evaluate/failure.ts';
import { variadic } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { specValueOf, typeName } from '../evaluate/value.ts';
import { defineNode } from '../definition/node-definition.ts';
import type { NodeRow, OptionsOfNode } from '../definition/node-definition.ts';
import type { Property } from '../definition/option.ts';
import { derivedOption } from '../definition/option.ts';
import type { PropertyCall, SpecValue } from '../pipeline.ts';
import type { UdfInfo, UdfValueType } from '../udf.ts';

/** Common to all user-defined functions; scripts create nodes of the rows from `udfRow`. */
export const udfNode = {
  ...define('udf', { wants: 'stream', provides: 'stream', options: {} }),
  forFunction: udfRow,
};

export type UdfOptions = OptionsOfNode<typeof udfNode>;

/** The row of a configured function, with its declared edges and options. */
export function udfRow(name: string, info: UdfInfo): NodeRow {
  return define(name, info);
}

function define(name: string, info: UdfInfo) {
  const properties = Object.entries(info.options).map(([option, types]) =>
    property(name, option, types),
  );
  return defineNode({
    type: 'udf',
    label: name,
    className: 'UDFNode',
    category: 'internal',
    summary: `user-defined function ${name}`,
    wants: info.wants,
    provides: info.provides,
    split: {
      kind: 'all',
      reason: 'is a function of your own, which may keep something of all groups',
    },
    follows: [],
    options: {
      functionName: derivedOption(name),
      /** The calls in the script, checked against the function's declaration. */
      calls: { ...derivedOption<readonly PropertyCall[]>([]), properties },
    },
    effects: ({ functionName }) => ({ callsFunction: functionName }),
  });
}

function property(
  name: string,
  option: string,
  types: readonly UdfValueType[],
): Property<readonly PropertyCall[]> {
  return {
    name: option,
    summary: `option of ${name}`,
    style: 'call',
    parameters: [variadic('value', 'any')],
    apply: (before, values) => [...before, checkedCall(option, types, values)],
  };
}

const KIND_OF_TYPE: Readonly<Record<UdfValueType, SpecValue['kind']>> = {
  bool: 'boolean',
  int: 'integer',
  float: 'float',
  string: 'string',
  duration: 'duration',
};

function checkedCall(
  name: string,
  types: readonly UdfValueType[],
  values: Arguments,
): PropertyCall {
  const given = values.values;
  if (given.length !== types.length) {
    throw new ArgumentFailure(
      `unexpected number of args to ${name}, got ${given.length} expected ${types.length}`,
    );
  }
  const specs = types.map((type, index) => {
    const value = given[index];
    const spec = value === undefined ? undefined : specValueOf(value);
    if (spec?.kind === KIND_OF_TYPE[type]) return spec;
    const got = value === undefined ? 'nothing' : typeName(value);
    throw new ArgumentFailure(`unexpected arg to ${name}, got ${got} expected ${type}`);
  });
  return { name, values: specs, span: { start: 0, end: 0 } };
}
