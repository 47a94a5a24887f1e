// What clients know of a run: what they have sent, and what they were answered.

export type Outcome = 'under way' | 'acknowledged' | 'refused' | 'unknown';

/** A definition that was put, or removed when it has no value. */
export type Change = { readonly value: string | undefined; outcome: Outcome };

export class Model {
  /** All changes of each definition, in the order in which they were sent; one at a time. */
  readonly definitions = new Map<string, Change[]>();
  readonly points = new Map<string, Outcome>();
  /** Events as the receiver got them: the point that raised each. */
  readonly delivered: string[] = [];

  begin(id: string, value: string | undefined): Change {
    const change: Change = { value, outcome: 'under way' };
    const changes = this.definitions.get(id) ?? [];
    this.definitions.set(id, [...changes, change]);
    return change;
  }

  isBusy(id: string): boolean {
    return this.definitions.get(id)?.at(-1)?.outcome === 'under way';
  }

  /** What a definition may be now. */
  allowed(id: string): readonly (string | undefined)[] {
    const changes = this.definitions.get(id) ?? [];
    const last = changes.findLastIndex(({ outcome }) => outcome === 'acknowledged');
    const later = changes.slice(last + 1).filter(({ outcome }) => outcome !== 'refused');
    return [last < 0 ? undefined : changes[last]?.value, ...later.map(({ value }) => value)];
  }
}
