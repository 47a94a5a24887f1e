// Names that a script can use at one point of its evaluation.
import type { Span } from '@tidemark/core';
import { EvaluationFailure, SkippedStatement } from './failure.ts';
import { didYouMean } from './hints.ts';
import type { Value } from './value.ts';

export class Scope {
  readonly #values = new Map<string, Value>();
  readonly #broken = new Set<string>();
  /** Functions that are names too. */
  readonly #functions: readonly string[];

  constructor(functions: readonly string[]) {
    this.#functions = functions;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }

  /** The statement of this var has failed: statements that use it are skipped. */
  markBroken(name: string): void {
    if (!this.#values.has(name)) this.#broken.add(name);
  }

  /** The value of a name; a function yields a value that nothing accepts. */
  get(name: string, span: Span): Value {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    if (this.#broken.has(name)) throw new SkippedStatement(`var ${name} has no value`);
    if (this.#functions.includes(name)) return { kind: 'unbound-function', name };
    const names = [...this.#values.keys(), ...this.#functions].sort();
    const text = `name ${JSON.stringify(name)} is undefined. Names in scope: ${names.join(',')}`;
    throw new EvaluationFailure('TICK_UNDEFINED_NAME', text, {
      span,
      isPositioned: false,
      found: name,
      expected: names,
      hint: hintFor(name, names),
    });
  }
}

function hintFor(name: string, names: readonly string[]): string | undefined {
  if (name === 'true' || name === 'false') return `write ${name.toUpperCase()}`;
  return (
    didYouMean(name, names) ??
    'names of fields and tags stand in double quotes, texts in single quotes'
  );
}
