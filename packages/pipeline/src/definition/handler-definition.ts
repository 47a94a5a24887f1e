// How a handler of the alert node describes itself: the script's name, the kind and option names
// that topic handlers have, its properties. One row per handler.
import { formatClockDuration } from '@tidemark/core';
import type { NodeProblem } from './node-problem.ts';
import { ArgumentFailure } from '../evaluate/failure.ts';
import type { HandlerOption } from '../pipeline.ts';
import type { Arguments, Parameter } from '../evaluate/parameter.ts';
import { scriptTypeName } from '../evaluate/hints.ts';
import { parameter, variadic } from '../evaluate/parameter.ts';

export type HandlerOptions = { readonly [name: string]: HandlerOption };

export type HandlerProperty = {
  readonly name: string;
  readonly summary: string;
  readonly style: 'value' | 'call';
  readonly parameters: readonly Parameter[];
  readonly apply: (options: HandlerOptions, values: Arguments) => HandlerOptions;
};

export type HandlerRow = {
  /** Name in scripts, `slack`. */
  readonly name: string;
  /** Other names in scripts. */
  readonly aliases: readonly string[];
  /** Kind of the topic handler that does the same, `chat`. */
  readonly kind: string;
  /** Name of the implementation in recorded error texts. */
  readonly className: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly create: (values: Arguments) => HandlerOptions;
  readonly properties: readonly HandlerProperty[];
  /** Checked when the script is defined. */
  readonly validate?: ((options: HandlerOptions) => NodeProblem | undefined) | undefined;
  /** Checked when the task starts. */
  readonly checkStart?: ((options: HandlerOptions) => NodeProblem | undefined) | undefined;
};

/** `.name('text')`. */
export function text(name: string, option: string, summary: string): HandlerProperty {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'string')],
    apply: (options, values) => ({ ...options, [option]: values.string(0) }),
  };
}

/** `.name(5)`. */
export function integer(name: string, option: string, summary: string): HandlerProperty {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'int')],
    // Modes, qualities of service and transaction ids are small.
    apply: (options, values) => ({ ...options, [option]: Number(values.integer(0)) }),
  };
}

/** `.name(TRUE)`. */
export function boolean(name: string, option: string, summary: string): HandlerProperty {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'bool')],
    apply: (options, values) => ({ ...options, [option]: values.boolean(0) }),
  };
}

/** `.name(10s)`; the option is text such as `10s` or `1m30s`. */
export function duration(name: string, option: string, summary: string): HandlerProperty {
  return {
    name,
    summary,
    style: 'value',
    parameters: [parameter(name, 'duration')],
    apply: (options, values) => ({ ...options, [option]: formatClockDuration(values.nanos(0)) }),
  };
}

/** `.name()`. */
export function flag(name: string, option: string, summary: string): HandlerProperty {
  return {
    name,
    summary,
    style: 'call',
    parameters: [],
    apply: (options) => ({ ...options, [option]: true }),
  };
}

/** `.name('a', 'b')`; repeated calls add to the list. */
export function list(name: string, option: string, summary: string): HandlerProperty {
  return {
    name,
    summary,
    style: 'call',
    parameters: [variadic(name, 'string')],
    apply: (options, values) => appended(options, option, values.strings(0)),
  };
}

/** `.name('key', 'value')`, repeatable. */
export function entry(name: string, option: string, summary: string): HandlerProperty {
  return {
    name,
    summary,
    style: 'call',
    parameters: [parameter('key', 'string'), parameter('value', 'any')],
    apply: (options, values) => {
      const before = options[option];
      const entries = isRecord(before) ? before : {};
      return { ...options, [option]: { ...entries, [values.string(0)]: optionOf(values, 1) } };
    },
  };
}

/** A property refuses its argument at once, with the position of the call. */
export function callRefusal(text: string): ArgumentFailure {
  return new ArgumentFailure(text);
}

/** Adds items to an option that is a list. */
export function appended(
  options: HandlerOptions,
  option: string,
  items: readonly HandlerOption[],
): HandlerOptions {
  const before = options[option];
  return { ...options, [option]: [...(Array.isArray(before) ? before : []), ...items] };
}

function isRecord(option: HandlerOption | undefined): option is HandlerOptions {
  return typeof option === 'object' && !Array.isArray(option);
}

function optionOf(values: Arguments, index: number): HandlerOption {
  const value = values.values[index];
  switch (value?.kind) {
    case 'string':
    case 'boolean':
    case 'float':
      return value.value;
    case 'integer':
      return Number(value.value);
    case 'duration':
      return formatClockDuration(value.nanos);
    default:
      values.refuseLater(`unsupported value for handler option ${values.string(0)}`, {
        found: value === undefined ? 'nothing' : scriptTypeName(value),
        expected: ['string', 'bool', 'int', 'float', 'duration'],
      });
      return '';
  }
}
