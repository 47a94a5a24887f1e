// Checks that a query equals the data that was visible when its snapshot was taken.
import type { Aggregates } from '../workload/subject.ts';
import type { Operation } from '../workload/operations.ts';

/** What is wrong with the answer; `undefined` when it is right. */
export function checkQuery(
  { database, retentionPolicy, measurement, how }: Operation & { kind: 'query' },
  { seen, answer }: { readonly seen: ReadonlyMap<string, number>; readonly answer: unknown },
): string | undefined {
  const prefix = `${database}.${retentionPolicy} ${measurement},`;
  const rows = [...seen].filter(([name]) => name.startsWith(prefix));
  const expected =
    how !== 'scan'
      ? { count: rows.length, sum: rows.reduce((sum, [, value]) => sum + value, 0) }
      : new Map(rows);
  const [wanted, found] = [expected, answer].map(printed);
  return wanted === found ? undefined : `a query answers ${found} instead of ${wanted}`;
}

function printed(value: unknown): string {
  if (value instanceof Map) return JSON.stringify([...value].sort());
  const { count, sum } = value as Aggregates;
  return JSON.stringify({ count, sum });
}
