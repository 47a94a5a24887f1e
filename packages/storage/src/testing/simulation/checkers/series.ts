// Checks that the series of an idle database are those with rows.
import type { Subject } from '../workload/subject.ts';

/** What is wrong; `undefined` when nothing is. `seen` are all rows, by names. */
export function checkSeries(
  { engine }: Subject,
  seen: ReadonlyMap<string, number>,
): string | undefined {
  const withRows = new Set<string>();
  for (const name of seen.keys()) {
    const [where = '', series = ''] = name.split(' ');
    withRows.add(`${where.slice(0, where.indexOf('.'))} ${series}`);
  }
  const listed: string[] = [];
  const snapshot = engine.snapshot();
  for (const [database, { index, hidesSeries }] of snapshot.databases) {
    const own = snapshot.shards.filter(({ shard }) => shard.descriptor.database === database);
    const isListed = (id: number): boolean =>
      index.isLive(id) && (!hidesSeries || own.some(({ series }) => series.has(id)));
    for (let id = 0; id < index.seriesEnd; id++) {
      if (isListed(id)) listed.push(`${database} ${index.seriesKey(id)}`);
    }
  }
  snapshot.release();
  const [wanted, found] = [[...withRows], listed].map((names) => names.sort().join('; '));
  return wanted === found ? undefined : `series listed are ${found} instead of ${wanted}`;
}
