// Data that the browser stores for its user: preferences permanently, drafts until the tab is
// closed. Damaged or foreign entries count as missing, and without storage the data stays in memory
// only.
import { effect, signal } from '@preact/signals';
import type { Signal } from '@preact/signals';

const PREFIX = 'tidemark.';

function read<T>(store: () => Storage, key: string, initial: T): T {
  try {
    const text = store().getItem(PREFIX + key);
    return text === null ? initial : (JSON.parse(text) as T);
  } catch {
    // Foreign or unreadable: counts as missing.
    return initial;
  }
}

function keep(store: () => Storage, key: string, value: unknown): void {
  try {
    store().setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Storage full or forbidden: the value stays on the page, but a reload loses it.
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
 * A preference of this browser: theme, history, saved items. Returns the same signal for the same
 * key.
 */
export function preference<T>(key: string, initial: T): Signal<T> {
  return stored(() => localStorage, `preference.${key}`, initial);
}

/** A text being written: it survives a reload, a page change, and a restart of a service. */
export function draft<T>(key: string, initial: T): Signal<T> {
  return stored(() => sessionStorage, `draft.${key}`, initial);
}
