// The inputs of a plan, numbered without duplicates in the order of their first use.
import type { RowInput } from './columns.ts';

export class InputSet {
  readonly #inputs: RowInput[];
  /** Made with the first input that is added: most conditions add none. */
  #indexes: Map<string, number> | undefined;

  /** `given` have numbers already. */
  constructor(given: readonly RowInput[] = []) {
    this.#inputs = [...given];
  }

  /** Number of the input, which is added if it is new. */
  add(input: RowInput): number {
    this.#indexes ??= new Map(this.#inputs.map((each, i) => [inputKey(each), i]));
    const key = inputKey(input);
    let index = this.#indexes.get(key);
    if (index === undefined) {
      index = this.#inputs.push(input) - 1;
      this.#indexes.set(key, index);
    }
    return index;
  }

  get all(): readonly RowInput[] {
    return this.#inputs;
  }
}

function inputKey(input: RowInput): string {
  if (input.kind === 'series') return input.kind;
  const type = input.kind === 'field' ? input.type : input.kind;
  return `${type} ${input.groupTag ?? ''} ${input.name}`;
}
