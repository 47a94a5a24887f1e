// The options of a node: one row for each, with its type, its default, and the argument or property
// that sets it. The type of the options follows from the rows.
import type { LambdaType } from '@tidemark/tickscript';
import { parameter, variadic } from '../evaluate/parameter.ts';
import type { Arguments, Parameter } from '../evaluate/parameter.ts';
import type { HandlerSpec, LambdaSpec, SpecValue } from '../pipeline.ts';

/**
 * How a script sets an option after the node is created. `value`: exactly one value is assigned.
 * `call`: takes the listed parameters. The two differ in their recorded error texts and in that a
 * value can be read (`node.measurement`).
 */
export type Property<T> = {
  readonly name: string;
  readonly summary: string;
  readonly style: 'value' | 'call';
  readonly parameters: readonly Parameter[];
  /** The option after the call. */
  apply(before: T, values: Arguments): T;
  read?(value: T): SpecValue | undefined;
};

export type Option<T> = {
  readonly initial: T;
  /** The argument of the call that creates the node, in the order of the options. */
  readonly parameter?: Parameter | undefined;
  /** Derives the value from the arguments; `index` is that of the option's own one. */
  from?(values: Arguments, index: number): T;
  readonly properties?: readonly Property<T>[] | undefined;
  /** Holds the handlers (`.slack()`) that the script attaches to the node. */
  readonly isHandlers?: true | undefined;
};

export type OptionTable = Readonly<Record<string, Option<unknown>>>;

/** The options that a table describes. */
export type OptionsOf<Table extends OptionTable> = {
  readonly [Key in keyof Table]: Table[Key]['initial'];
};

type Setter<T> = Pick<Property<T>, 'name' | 'summary' | 'parameters' | 'apply'>;

/** Set by calls of one property that has parameters of its own. */
export function callOption<T>(initial: T, setter: Setter<T>): Option<T> {
  return { initial, properties: [{ ...setter, style: 'call' }] };
}

function valueOption<T>(initial: T, setter: Setter<T> & Pick<Property<T>, 'read'>): Option<T> {
  return { initial, properties: [{ ...setter, style: 'value' }] };
}

/** `.name('text')`. */
export function stringOption(name: string, summary: string, initial = ''): Option<string> {
  return valueOption(initial, {
    name,
    summary,
    parameters: [parameter(name, 'string')],
    apply: (_, values) => values.string(0),
    read: (value) => ({ kind: 'string', value }),
  });
}

/** `.name('file:///folder')`: a folder to read, or another address. */
export function folderOption(name: string, summary: string): Option<string> {
  return valueOption('', {
    name,
    summary,
    parameters: [{ ...parameter(name, 'string'), reaches: 'folder' }],
    apply: (_, values) => values.string(0),
    read: (value) => ({ kind: 'string', value }),
  });
}

/** `.name(10s)`, in nanoseconds. */
export function durationOption(name: string, summary: string, initial = 0n): Option<bigint> {
  return valueOption(initial, {
    name,
    summary,
    parameters: [parameter(name, 'duration')],
    apply: (_, values) => values.nanos(0),
    read: (nanos) => ({ kind: 'duration', nanos }),
  });
}

/** `.name(5)`. */
export function integerOption(name: string, summary: string, initial = 0n): Option<bigint> {
  return valueOption(initial, {
    name,
    summary,
    parameters: [parameter(name, 'int')],
    apply: (_, values) => values.integer(0),
    read: (value) => ({ kind: 'integer', value }),
  });
}

/** `.name(TRUE)`. */
export function booleanOption(name: string, summary: string): Option<boolean> {
  return valueOption(false, {
    name,
    summary,
    parameters: [parameter(name, 'bool')],
    apply: (_, values) => values.boolean(0),
    read: (value) => ({ kind: 'boolean', value }),
  });
}

/** `.name(lambda: …)`; `gives` is the required type of the result. */
export function lambdaOption(
  name: string,
  summary: string,
  gives: LambdaType,
): Option<LambdaSpec | undefined> {
  return valueOption<LambdaSpec | undefined>(undefined, {
    name,
    summary,
    parameters: [{ ...parameter(name, 'lambda'), gives }],
    apply: (_, values) => values.lambda(0),
    read: (value) => value,
  });
}

/** `.name()`: true from then on. */
export function flagOption(name: string, summary: string): Option<boolean> {
  return callOption(false, { name, summary, parameters: [], apply: () => true });
}

/** `.name('a', 'b')`; the last call counts. */
export function stringsOption(
  name: string,
  summary: string,
  item: string,
): Option<readonly string[]> {
  return callOption<readonly string[]>([], {
    name,
    summary,
    parameters: [variadic(item, 'string')],
    apply: (_, values) => values.strings(0),
  });
}

/** `.name('key', 'value')`; each call adds an entry. */
export function stringMapOption(
  name: string,
  summary: string,
  [key, value]: readonly [key: string, value: string] = ['name', 'value'],
): Option<ReadonlyMap<string, string>> {
  return callOption<ReadonlyMap<string, string>>(new Map(), {
    name,
    summary,
    parameters: [parameter(key, 'string'), parameter(value, 'string')],
    apply: (before, values) => new Map(before).set(values.string(0), values.string(1)),
  });
}

/** The handlers of the node. */
export function handlersOption(): Option<readonly HandlerSpec[]> {
  return { initial: [], isHandlers: true };
}

/** Not set by scripts, or derived from the arguments. */
export function derivedOption<T>(initial: T, from?: (values: Arguments) => T): Option<T> {
  return from === undefined ? { initial } : { initial, from };
}

/** Set by an argument of the call that makes the node. */
export function argument<T>(
  initial: T,
  of: Parameter,
  from: (values: Arguments, index: number) => T,
): Option<T> {
  return { initial, parameter: of, from };
}

/** `|node('text')`. */
export function stringArgument(name: string): Option<string> {
  return argument('', parameter(name, 'string'), (values, index) => values.string(index));
}

/** `|node('a', 'b')`: all remaining values. */
export function stringsArgument(name: string): Option<readonly string[]> {
  return argument<readonly string[]>([], variadic(name, 'string'), (values, index) =>
    values.strings(index),
  );
}

/** `|node(5)`. */
export function integerArgument(name: string): Option<bigint> {
  return argument(0n, parameter(name, 'int'), (values, index) => values.integer(index));
}

/** `|node(0.5)`. */
export function floatArgument(name: string): Option<number> {
  return argument(0, parameter(name, 'float'), (values, index) => values.float(index));
}

/** `|node(10s)`, in nanoseconds. */
export function durationArgument(name: string): Option<bigint> {
  return argument(0n, parameter(name, 'duration'), (values, index) => values.nanos(index));
}

/** `|node(lambda: …)`, a condition. */
export function conditionArgument(name: string): Option<LambdaSpec | undefined> {
  return argument<LambdaSpec | undefined>(
    undefined,
    { ...parameter(name, 'lambda'), gives: 'boolean' },
    (values, index) => values.lambda(index),
  );
}

/** `|node(lambda: …, lambda: …)`; `gives` is the required type of each result, by default any. */
export function lambdasArgument(name: string, gives?: LambdaType): Option<readonly LambdaSpec[]> {
  return argument<readonly LambdaSpec[]>(
    [],
    { ...variadic(name, 'lambda'), gives },
    (values, index) => values.lambdas(index),
  );
}
