// Ranges that are offered by name, and how ranges are called.
import { texts } from '../texts/texts.ts';
import { isRelativeInstant, parseInstant } from './range.ts';
import type { TimeRange } from './range.ts';
import { formatInstant } from './zone.ts';

const t = texts.time;

export type NamedRange = { readonly range: TimeRange; readonly label: string };

/** Spans that end now, as count and unit. */
const LAST = ['5m', '15m', '30m', '1h', '3h', '6h', '12h', '24h', '2d', '7d', '30d', '90d'];

const named = (from: string, to: string, label: string): NamedRange => ({
  range: { from, to },
  label,
});

export const QUICK_RANGES: readonly NamedRange[] = [
  ...LAST.map((span) => named(`now-${span}`, 'now', lastOf(span))),
  named('now/d', 'now', t.today),
  named('now-1d/d', 'now-1d/d', t.yesterday),
  named('now/w', 'now', t.thisWeek),
  named('now-1w/w', 'now-1w/w', t.lastWeek),
  named('now/M', 'now', t.thisMonth),
  named('now-1M/M', 'now-1M/M', t.lastMonth),
];

/** `Last 2 days` for `2d`. */
function lastOf(span: string): string {
  const [, count = '', unit = ''] = /^(\d+)([smhdwMy])$/.exec(span) ?? [];
  return t.last(Number(count), t.units[unit as keyof typeof t.units]);
}

export function labelOfRange(range: TimeRange, zone: string): string {
  const { from, to } = range;
  const quick = QUICK_RANGES.find((each) => each.range.from === from && each.range.to === to);
  if (quick !== undefined) return quick.label;
  const span = /^now-(\d+[smhdwMy])$/.exec(from)?.[1];
  if (span !== undefined && to === 'now') return lastOf(span);
  return `${instantText(from, zone)} – ${instantText(to, zone)}`;
}

/** An end of a range as it is typed: relative, or in the zone in which times are shown. */
export function instantText(text: string, zone: string): string {
  if (isRelativeInstant(text)) return text;
  const ms = parseInstant(text, { nowMs: 0, zone });
  return ms === undefined ? text : formatInstant(ms, zone);
}
