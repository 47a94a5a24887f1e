// Hints: what to write instead, beside the recorded messages, in the terms of the language.
import { closestName } from './closest-name.ts';
import type { Parameter, ParameterType } from './parameter.ts';
import type { Value } from './value.ts';

const TYPE_PHRASES: Readonly<Record<ParameterType, string>> = {
  string: 'string',
  int: 'int',
  float: 'float',
  bool: 'bool',
  duration: 'duration',
  lambda: 'lambda',
  node: 'node',
  any: 'value',
};

/** A parameter's type, in the terms of scripts. */
export function typePhrase(type: ParameterType): string {
  return TYPE_PHRASES[type];
}

/** A value's type, in the terms of scripts. */
export function scriptTypeName(value: Value): string {
  switch (value.kind) {
    case 'integer':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'handler':
      return 'node';
    case 'time-dimension':
      return 'time()';
    case 'unbound-function':
      return `function ${value.name}`;
    case 'null':
      return value.type;
    default:
      return value.kind;
  }
}

/** An example of a value of the type, when something else was given. */
export function hintForType(type: ParameterType, given: Value): string | undefined {
  switch (type) {
    case 'duration':
      return given.kind === 'string'
        ? 'write the duration without quotes, 10s'
        : 'write a duration with its unit, 10s';
    case 'string':
      return "strings are written in single quotes: 'text'";
    case 'lambda':
      return 'write lambda: before the expression';
    case 'float':
      return given.kind === 'integer' ? 'write the number with a decimal point, 1.0' : undefined;
    case 'int':
      return given.kind === 'float' ? 'write the number without a decimal point' : undefined;
    case 'bool':
      return 'write TRUE or FALSE';
    case 'node':
      return 'give a node: a chain, or a var that holds one';
    default:
      return undefined;
  }
}

/** The form of a call: `.period(period duration)`. */
export function usage(
  call: { readonly operator: string; readonly name: string },
  parameters: readonly Parameter[],
): string {
  const list = parameters.map(
    ({ name, type, isVariadic }) =>
      `${name}${name === typePhrase(type) ? '' : ` ${typePhrase(type)}`}${isVariadic === true ? '...' : ''}`,
  );
  return `write ${call.operator}${call.name}(${list.join(', ')})`;
}

/** The known name that was probably meant. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  const closest = closestName(name, known);
  return closest === undefined ? undefined : `did you mean ${closest}?`;
}
