// From which databases the data of a task comes: those it is defined for, which its queries can not
// leave (packages/pipeline/src/query-text.ts). Whoever sees the data needs READ on all of them.
import type { Dbrp } from '../store/records.ts';

export function databasesOf({ dbrps }: { readonly dbrps: readonly Dbrp[] }): readonly string[] {
  return [...new Set(dbrps.map(({ db }) => db))];
}
