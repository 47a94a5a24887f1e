// Data that the browser stores for its user: preferences permanently, drafts until the tab is
// closed. Damaged or foreign entries count as missing, and without storage the data is only kept in
// memory.
import { effect, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';

const PREFIX = 'tidemark.';

function read<T>(store: () => Storage, key: string, initial: T): T {
  try {
    const text = store().getItem(PREFIX + key);
    return text === null ? initial : (JSON.parse(text) as T);
  } catch {
    // Not ours, or not readable: as if it were not there.
    return initial;
  }
}

function keep(store: () => Storage, key: string, value: unknown): void {
  try {
    store().setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Full or forbidden: what is on the page stays, it only is not kept over a reload.
  }
}

const known = new Map<string, Signal<unknown>>();

function stored<T>(store: () => Storage, key: string, initial: T): Signal<T> {
  const before = known.get(key);
  if (before !== undefined) return before as Signal<T>;
  const made = signal<T>(read(store, key, initial));
  known.set(key, made);
  effect(() => keep(store, key, made.value));
  return made;
}

/**
 * A preference of this browser: theme, history, saved things of its user. The same signal for the
 * same key.
 */
export function preference<T>(key: string, initial: T): Signal<T> {
  return stored(() => localStorage, `preference.${key}`, initial);
}

/**
 * A text that is being written: it survives a reload, another page, and a service that restarts.
 */
export function draft<T>(key: string, initial: T): Signal<T> {
  return stored(() => sessionStorage, `draft.${key}`, initial);
}
