// Level changes as bars on a timeline.
import type { LevelChange } from '@tidemark/client';

export type Bar = { readonly level: string; readonly fromMs: number; readonly toMs: number };

export type TimelineRow = {
  readonly topic: string;
  readonly id: string;
  readonly changeCount: number;
  readonly bars: readonly Bar[];
};

/**
 * One row for each event, most recently changed first. Before its first known change a row has that
 * change's previous level; after the last, the current level.
 */
export function timelineOf(
  changes: readonly LevelChange[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly TimelineRow[] {
  const rows = new Map<string, LevelChange[]>();
  // Changes are sorted newest first; bars run forward.
  for (const change of changes) {
    const key = JSON.stringify([change.topic, change.id]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [change]);
    else row.push(change);
  }
  return [...rows.values()].flatMap((newestFirst) => {
    const inOrder = newestFirst.toReversed();
    const [first] = inOrder;
    if (first === undefined) return [];
    const bars: Bar[] = [];
    let level = first.previous;
    let since = fromMs;
    let changeCount = 0;
    for (const change of inOrder) {
      const ms = Math.min(Math.max(Date.parse(change.time), fromMs), toMs);
      if (ms > since) bars.push({ level, fromMs: since, toMs: ms });
      if (ms > fromMs && ms < toMs) changeCount++;
      since = ms;
      level = change.level;
    }
    if (since < toMs) bars.push({ level, fromMs: since, toMs });
    if (bars.every((bar) => bar.level === 'OK')) return [];
    return [{ topic: first.topic, id: first.id, changeCount, bars }];
  });
}
