// @name: a user-defined function, run outside the engine.
import { ArgumentFailure } from '../evaluate/failure.ts';
import { variadic } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { specValueOf, typeName } from '../evaluate/value.ts';
import { callProperty, defineNode } from '../node-definition.ts';
import type { NodeRow } from '../node-definition.ts';
import type { PropertyCall, SpecValue } from '../pipeline.ts';
import type { UdfInfo, UdfValueType } from '../udf.ts';

export type UdfOptions = {
  readonly functionName: string;
  /** Calls as the script made them, checked against what the function declares. */
  readonly calls: readonly PropertyCall[];
};

/** The row of a configured function: its edges and options are what it declares. */
export function udfNode(name: string, info: UdfInfo): NodeRow {
  return defineNode<UdfOptions>({
    type: 'udf',
    label: name,
    className: 'UDFNode',
    category: 'transformation',
    summary: `user-defined function ${name}`,
    wants: info.wants,
    provides: info.provides,
    parameters: [],
    create: () => ({ functionName: name, calls: [] }),
    properties: Object.entries(info.options).map(([option, types]) =>
      callProperty<UdfOptions>(
        option,
        [variadic('value', 'any')],
        `option of ${name}`,
        (options, values) => ({
          ...options,
          calls: [...options.calls, checkedCall(option, types, values)],
        }),
      ),
    ),
  });
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
