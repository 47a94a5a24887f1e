// A built-in function of lambdas: a registry row with signatures. One file per family of functions.
import type { Value, ValueType } from '../data/schema.ts';
import type { Regex } from './regex.ts';

/** Argument types; `missing` is a reference that a point lacks, which only `isPresent` accepts. */
export type ArgumentType = ValueType | 'missing';

/** The context of a call besides its arguments. */
export type CallContext = {
  readonly now: () => bigint;
  /** In [0, 1). */
  readonly random: () => number;
};

export type Signature = {
  readonly args: readonly ArgumentType[];
  readonly result: ValueType;
  /** Regular expressions arrive compiled. */
  readonly call: (...args: never[]) => Value | Regex;
};

/** State of a stateful function: plain data, so that it can be stored. */
export type FunctionState = { [name: string]: number };

export type FunctionRow = {
  readonly name: string;
  readonly signatures: readonly Signature[];
  /** Creates the state; `call` gets it as its first argument. All calls of one lambda share it. */
  readonly init?: (() => FunctionState) | undefined;
  /** `call` gets a `CallContext` as its first argument. Its results must not be cached. */
  readonly isContextual?: boolean | undefined;
  /** `call` never throws. */
  readonly isTotal?: boolean | undefined;
};

/** A row whose functions take floats and give a float. */
export function floatFunction(name: string, call: (...args: number[]) => number): FunctionRow {
  const args = Array.from({ length: call.length }, () => 'float' as const);
  return {
    name,
    signatures: [{ args, result: 'float', call: call as Signature['call'] }],
    isTotal: true,
  };
}

/** A row of one signature. */
export function single(
  name: string,
  args: readonly ArgumentType[],
  result: ValueType,
  call: Signature['call'],
): FunctionRow {
  return { name, signatures: [{ args, result, call }] };
}
