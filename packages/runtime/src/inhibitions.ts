// The groups of alert nodes that currently inhibit events of a category, in all tasks of an engine.
// The engine's thread has all of them, each task host a copy; replays have their own.

/** A group of an alert node: it inhibits events of a category whose tags have these values. */
export type Inhibition = {
  /** Begins with the unit of the node, see `inhibitionKey`. */
  readonly key: string;
  readonly category: string;
  readonly tags: readonly (readonly [name: string, value: string])[];
};

/** The inhibitions, as alert nodes use them. */
export interface InhibitionRegistry {
  /** Only active ones inhibit anything. */
  set(inhibition: Inhibition, isActive: boolean): unknown;
  isInhibited(category: string, tagOf: (name: string) => string | undefined): boolean;
}

export type InhibitionListener = (inhibition: Inhibition, isActive: boolean) => void;

/** Names an inhibition; one node may have several for a group. */
export function inhibitionKey(unit: string, rest: readonly (string | number)[]): string {
  return `${unit}\n${rest.join('\n')}`;
}

export class Inhibitions implements InhibitionRegistry {
  /** The active ones. */
  readonly #byCategory = new Map<string, Map<string, Inhibition>>();
  readonly #listeners = new Set<InhibitionListener>();

  /** Returns whether that changes anything. */
  set(inhibition: Inhibition, isActive: boolean): boolean {
    const { key, category } = inhibition;
    let active = this.#byCategory.get(category);
    if ((active?.has(key) ?? false) === isActive) return false;
    if (active === undefined) this.#byCategory.set(category, (active = new Map()));
    if (isActive) active.set(key, inhibition);
    else active.delete(key);
    for (const listener of this.#listeners) listener(inhibition, isActive);
    return true;
  }

  isInhibited(category: string, tagOf: (name: string) => string | undefined): boolean {
    const active = this.#byCategory.get(category);
    if (active === undefined) return false;
    for (const { tags } of active.values()) {
      if (tags.every(([name, value]) => (tagOf(name) ?? '') === value)) return true;
    }
    return false;
  }

  *active(): Iterable<Inhibition> {
    for (const active of this.#byCategory.values()) yield* active.values();
  }

  /** Calls the listener for every change. Returns a function that stops it. */
  follow(listener: InhibitionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A unit that has ended, or restarts, inhibits nothing. */
  endOf(unit: string): void {
    const prefix = inhibitionKey(unit, []);
    const ended = [...this.active()].filter(({ key }) => key.startsWith(prefix));
    for (const inhibition of ended) this.set(inhibition, false);
  }
}

/** Those of all running tasks; try-outs and replays have their own. */
export function inhibitionsIn(
  scope: string | undefined,
  shared: { readonly inhibitions: InhibitionRegistry },
): InhibitionRegistry {
  return (scope ?? 'main') === 'main' ? shared.inhibitions : new Inhibitions();
}
