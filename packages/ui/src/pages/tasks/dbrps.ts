// Databases with retention policies, as typed text.
import type { Dbrp } from '@tidemark/client';

/** `house.autogen, other.week`. */
export const printDbrps = (dbrps: readonly Dbrp[]): string =>
  dbrps.map(({ db, rp }) => `${db}.${rp}`).join(', ');

/** Parses the text; empty for an empty one. */
export function readDbrps(text: string): readonly Dbrp[] {
  const names = text.split(',').map((one) => one.trim());
  return names
    .filter((one) => one !== '')
    .map((one) => {
      const [db = '', rp = 'autogen'] = one.split('.');
      return { db, rp };
    });
}
