// The differences between a definition to be copied and an existing one.
import { HIDDEN } from '@tidemark/settings';
import type { Json } from './server.ts';

/**
 * Names of the properties of `wanted` that differ in `existing`, sorted. Properties that only
 * `existing` has do not count: engines add links, times and counters. Neither side shows secrets,
 * so they count as equal.
 */
export function differences(wanted: Json, existing: Json): readonly string[] {
  return differing(Object.keys(wanted), wanted, existing);
}

/** Databases and retention policies, which have no order. */
export function sortedDbrps(dbrps: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(dbrps) ? dbrps : [];
  return list.map((one) => JSON.stringify([(one as Json)['db'], (one as Json)['rp']])).sort();
}

function differing(names: readonly string[], wanted: Json, existing: Json): readonly string[] {
  return names.filter((name) => !isSame(wanted[name], existing[name])).sort();
}

function isSame(wanted: unknown, existing: unknown): boolean {
  if (isAbsent(wanted)) return isAbsent(existing);
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(existing) &&
      wanted.length === existing.length &&
      wanted.every((item, i) => isSame(item, existing[i]))
    );
  }
  if (wanted !== null && typeof wanted === 'object') {
    if (existing === null || typeof existing !== 'object') return false;
    const names = [...Object.keys(wanted), ...Object.keys(existing)];
    return differing(names, wanted as Json, existing as Json).length === 0;
  }
  if (typeof existing === 'string' && existing.includes(HIDDEN)) return typeof wanted === 'string';
  return wanted === existing;
}

/** Absent in any form: servers leave it out, or write null, an empty text, list or object. */
function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
