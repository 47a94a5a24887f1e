// Connections that handlers keep between events: opened on first use, shared, closed when idle or
// at the end.
import type { Clock } from '@tidemark/core';
import type { Closable, ConnectionCache } from './handler.ts';

type Kept = { readonly opened: Promise<Closable>; idle: AbortController };

/** A cache whose connections close themselves after the idle time of their last use. */
export function connectionCache(clock: Clock): ConnectionCache & Closable {
  const kept = new Map<string, Kept>();

  async function discard(key: string): Promise<void> {
    const entry = kept.get(key);
    if (entry === undefined) return;
    kept.delete(key);
    entry.idle.abort();
    await closeQuietly(entry.opened);
  }

  return {
    async use<T extends Closable>(key: string, idleMs: number, open: () => Promise<T>): Promise<T> {
      let entry = kept.get(key);
      if (entry === undefined) {
        entry = { opened: open(), idle: new AbortController() };
        kept.set(key, entry);
        // The next event retries a connection that could not be opened.
        entry.opened.catch(() => kept.delete(key));
      }
      entry.idle.abort();
      entry.idle = new AbortController();
      clock.sleep(Math.max(1, idleMs), entry.idle.signal).then(
        () => discard(key),
        // Used again before the idle time was over.
        () => undefined,
      );
      // The key names the kind of connection, hence its type.
      return (await entry.opened) as T;
    },
    discard,
    async close() {
      await Promise.all([...kept.keys()].map(discard));
    },
  };
}

async function closeQuietly(opened: Promise<Closable>): Promise<void> {
  try {
    await (await opened).close();
  } catch {
    // It was never opened or is broken already: there is nothing to close.
  }
}
