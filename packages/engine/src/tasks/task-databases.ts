// The databases that the data of a task comes from: those it is defined for, to which its queries
// are restricted (packages/pipeline/src/query-text.ts). A user needs READ on all of them to see the
// data.
import type { Dbrp } from '../store/records.ts';

export function databasesOf({ dbrps }: { readonly dbrps: readonly Dbrp[] }): readonly string[] {
  return [...new Set(dbrps.map(({ db }) => db))];
}
