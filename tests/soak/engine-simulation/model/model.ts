// The clients' knowledge in a run: their requests, and the responses.
import type { Told } from '../world/receiver.ts';

export type Outcome = 'under way' | 'acknowledged' | 'refused' | 'unknown';

/** A definition that was put, or removed when it has no value. */
export type Change = { readonly value: string | undefined; outcome: Outcome };

/** An event as its receiver got it, and the term of the leader that told it. */
export type Delivery = Told & { readonly term: number };

export class Model {
  /** All changes of each definition, in the order in which they were sent; one at a time. */
  readonly definitions = new Map<string, Change[]>();
  /** By the number that a point carries. */
  readonly points = new Map<number, Outcome>();
  readonly delivered: Delivery[] = [];
  #moves = 0;

  /** Moves with every change of what definitions may be. */
  get moves(): number {
    return this.#moves;
  }

  end(change: Change, outcome: Outcome): void {
    this.#moves++;
    change.outcome = outcome;
  }

  begin(id: string, value: string | undefined): Change {
    this.#moves++;
    const change: Change = { value, outcome: 'under way' };
    const changes = this.definitions.get(id) ?? [];
    this.definitions.set(id, [...changes, change]);
    return change;
  }

  isBusy(id: string): boolean {
    return this.definitions.get(id)?.at(-1)?.outcome === 'under way';
  }

  /** The possible current definitions. */
  allowed(id: string): readonly (string | undefined)[] {
    const changes = this.definitions.get(id) ?? [];
    const last = changes.findLastIndex(({ outcome }) => outcome === 'acknowledged');
    const later = changes.slice(last + 1).filter(({ outcome }) => outcome !== 'refused');
    return [last < 0 ? undefined : changes[last]?.value, ...later.map(({ value }) => value)];
  }
}
