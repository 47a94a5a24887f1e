// The inputs of a plan, numbered without duplicates in the order in which they are asked for.
import type { RowInput } from './columns.ts';

export class InputSet {
  readonly #inputs: RowInput[] = [];
  readonly #indexes = new Map<string, number>();

  /** `known` are numbered already. */
  constructor(known: readonly RowInput[] = []) {
    for (const input of known) this.add(input);
  }

  /** Number of the input, new or known. */
  add(input: RowInput): number {
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
  if (input.kind === 'field') return `${input.type} ${input.name}`;
  if (input.kind === 'series') return input.kind;
  return `${input.isHidden === true ? 'hidden' : 'tag'} ${input.name}`;
}
