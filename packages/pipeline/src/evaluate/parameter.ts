// Parameters of nodes and properties: their types, the check of a call against them, and typed
// access to its values.
import { assert } from '@tidemark/core';
import type { LambdaType } from '@tidemark/tickscript';
import type { LambdaSpec } from '../pipeline.ts';
import { ArgumentFailure } from './failure.ts';
import type { FailureDetails } from './failure.ts';
import { hintForType, scriptTypeName, typePhrase } from './hints.ts';
import type { DraftNode } from './draft.ts';
import { typeName } from './value.ts';
import type { Value } from './value.ts';

export type ParameterType =
  | 'string'
  | 'int'
  | 'float'
  | 'bool'
  | 'duration'
  | 'lambda'
  | 'node'
  | 'any';

/** The external resources that a value may name. */
export type ExternalResource = 'program' | 'file' | 'folder' | 'host';

/** The last parameter may be variadic: it takes any number of values, also none. */
export type Parameter = {
  readonly name: string;
  readonly type: ParameterType;
  readonly isVariadic?: boolean | undefined;
  /** Required type of a lambda's result; any when absent. */
  readonly gives?: LambdaType | undefined;
  /** The external resource that the value names; a folder is a `file://` address. */
  readonly reaches?: ExternalResource | undefined;
};

export function parameter(name: string, type: ParameterType): Parameter {
  return { name, type };
}

export function variadic(name: string, type: ParameterType): Parameter {
  return { name, type, isVariadic: true };
}

const VALUE_KINDS: Readonly<Record<Exclude<ParameterType, 'any'>, Value['kind']>> = {
  string: 'string',
  int: 'integer',
  float: 'float',
  bool: 'boolean',
  duration: 'duration',
  lambda: 'lambda',
  node: 'node',
};

/** Names of parameter types as recorded error texts print them. */
const TYPE_NAMES: Readonly<Record<ParameterType, string>> = {
  string: 'string',
  int: 'int64',
  float: 'float64',
  bool: 'bool',
  duration: 'time.Duration',
  lambda: '*ast.LambdaNode',
  node: 'pipeline.Node',
  any: 'interface {}',
};

function accepts(type: ParameterType, value: Value): boolean {
  if (type === 'any') return true;
  if (value.kind === 'null') return type === 'lambda' && value.type === 'lambda';
  if (type === 'node' && value.kind === 'handler') return true;
  return VALUE_KINDS[type] === value.kind;
}

/** Some value of a type, for showing what a node looks like by default. */
export function sampleValue(type: ParameterType): Value {
  switch (type) {
    case 'string':
      return { kind: 'string', value: '' };
    case 'float':
      return { kind: 'float', value: 0 };
    case 'bool':
      return { kind: 'boolean', value: false };
    case 'duration':
      return { kind: 'duration', nanos: 0n };
    case 'lambda':
      return { kind: 'null', type: 'lambda' };
    case 'int':
    case 'any':
    case 'node':
      return { kind: 'integer', value: 0n };
  }
}

/** `cannot assign … did you use double quotes`, the one mistake that has a text of its own. */
export function quoteMistake(type: ParameterType, value: Value): string | undefined {
  if (value.kind !== 'reference' || type === 'any') return undefined;
  return `cannot assign *ast.ReferenceNode to type ${TYPE_NAMES[type]}, did you use double quotes instead of single quotes?`;
}

/** Checks the values of a call. Throws `ArgumentFailure` with the recorded text. */
export function checkCall(parameters: readonly Parameter[], values: readonly Value[]): void {
  const last = parameters.at(-1);
  const isVariadic = last?.isVariadic === true;
  const required = isVariadic ? parameters.length - 1 : parameters.length;
  if (values.length < required) {
    throw new ArgumentFailure('reflect: Call with too few input arguments');
  }
  if (!isVariadic && values.length > required) {
    throw new ArgumentFailure('reflect: Call with too many input arguments');
  }
  for (const [index, value] of values.entries()) {
    const each = index < required ? parameters[index] : last;
    assert(each !== undefined, 'a call within the bounds has a parameter for each value');
    if (accepts(each.type, value)) continue;
    const [given, wanted] = [typeName(value), TYPE_NAMES[each.type]];
    throw new ArgumentFailure(
      index < required
        ? `reflect: Call using ${given} as type ${wanted}`
        : `reflect: cannot use ${given} as type ${wanted} in Call`,
      typeDetails(each.type, value),
    );
  }
}

/** Refuses a value of a wrong type given to a property that is simply assigned. */
export function checkAssignment(type: ParameterType, value: Value): void {
  if (accepts(type, value)) return;
  const text = `reflect.Set: value of type ${typeName(value)} is not assignable to type ${TYPE_NAMES[type]}`;
  throw new ArgumentFailure(text, typeDetails(type, value));
}

function typeDetails(type: ParameterType, value: Value): ArgumentFailure['details'] {
  return {
    found: scriptTypeName(value),
    expected: [typePhrase(type)],
    hint: hintForType(type, value),
  };
}

type Defer = (text: string, details: FailureDetails, subject: string | undefined) => void;

/** The values of a call that has been checked, by index and type. */
export class Arguments {
  readonly values: readonly Value[];
  readonly #defer: Defer;
  readonly #forget: (subject: string) => void;

  constructor(
    values: readonly Value[],
    defer: Defer,
    forget: (subject: string) => void = () => undefined,
  ) {
    this.values = values;
    this.#defer = defer;
    this.#forget = forget;
  }

  /**
   * Refuses the node during validation, after the whole script was evaluated, unless a later call
   * sets the subject to something else.
   */
  refuseLater(text: string, details: FailureDetails = {}, subject?: string): void {
    this.#defer(text, details, subject);
  }

  /** The subject has been set: earlier refusals of it no longer apply. */
  replaces(subject: string): void {
    this.#forget(subject);
  }

  string(index: number): string {
    const value = this.values[index];
    assert(value?.kind === 'string', 'the argument was checked to be a string');
    return value.value;
  }

  integer(index: number): bigint {
    const value = this.values[index];
    assert(value?.kind === 'integer', 'the argument was checked to be an integer');
    return value.value;
  }

  float(index: number): number {
    const value = this.values[index];
    assert(value?.kind === 'float', 'the argument was checked to be a float');
    return value.value;
  }

  boolean(index: number): boolean {
    const value = this.values[index];
    assert(value?.kind === 'boolean', 'the argument was checked to be a boolean');
    return value.value;
  }

  nanos(index: number): bigint {
    const value = this.values[index];
    assert(value?.kind === 'duration', 'the argument was checked to be a duration');
    return value.nanos;
  }

  /** `undefined` for a lambda var of a template that has no value. */
  lambda(index: number): LambdaSpec | undefined {
    const value = this.values[index];
    if (value?.kind === 'null') return undefined;
    assert(value?.kind === 'lambda', 'the argument was checked to be a lambda');
    return value;
  }

  strings(from: number): readonly string[] {
    return this.values.slice(from).map((_, index) => this.string(from + index));
  }

  lambdas(from: number): readonly LambdaSpec[] {
    const list = this.values.slice(from).map((_, index) => this.lambda(from + index));
    return list.filter((each) => each !== undefined);
  }

  nodes(from: number): readonly DraftNode[] {
    return this.values.slice(from).map((value) => {
      assert(value.kind === 'node' || value.kind === 'handler', 'checked to be a node');
      return value.node;
    });
  }
}
