// A cell in place of a panel that cannot be drawn.
import { ORIGINAL, placeholder as KIND, REASON } from '../../cells/placeholder/kind.ts';
import { EMPTY_CELL } from '../model.ts';
import type { Cell } from '../model.ts';
import type { Report } from './report.ts';

/**
 * Stores the title, the reason and the original, and adds to the report. `where` names the cell in
 * the report.
 */
export function placeholder(
  what: { readonly title: string; readonly reason: string; readonly original: unknown },
  where: string,
  report: Report,
): Cell {
  const { title, reason, original } = what;
  report.add(where, reason);
  const text = JSON.stringify(original, undefined, 2);
  const options = { [REASON.name]: reason, [ORIGINAL.name]: text };
  return { ...EMPTY_CELL, title, kind: KIND.id, options };
}
