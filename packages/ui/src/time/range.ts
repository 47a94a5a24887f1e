// Time spans as people choose them: "the last hour", or from one instant to another.

/** `now-1h`, `now`, or an instant as RFC 3339 or milliseconds since 1970. */
export type TimeRange = { readonly from: string; readonly to: string };

export type Span = { readonly fromMs: number; readonly toMs: number };

/** Milliseconds of the units in which spans are typed. */
export const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** An instant in milliseconds; `undefined` for an invalid text. */
export function parseInstant(text: string, nowMs: number): number | undefined {
  const trimmed = text.trim();
  const relative = /^now(?:\s*-\s*(\d+)\s*([smhdw]))?$/.exec(trimmed);
  if (relative !== null) {
    const [, count = '0', unit = 's'] = relative;
    return nowMs - Number(count) * (UNIT_MS[unit] ?? 0);
  }
  if (/^\d{11,}$/.test(trimmed)) return Number(trimmed);
  // Without a zone the browser parses it as local time, as intended.
  const ms = Date.parse(trimmed.replace(/^(\d{4}-\d\d-\d\d) /, '$1T'));
  return Number.isNaN(ms) ? undefined : ms;
}

/** The current span of a range; `undefined` if an end is invalid, or the span is empty. */
export function spanOf(range: TimeRange, nowMs: number): Span | undefined {
  const fromMs = parseInstant(range.from, nowMs);
  const toMs = parseInstant(range.to, nowMs);
  if (fromMs === undefined || toMs === undefined || fromMs >= toMs) return undefined;
  return { fromMs, toMs };
}

export const isRelative = ({ to }: TimeRange): boolean => to.trim().startsWith('now');

/** The range of a span, such as one selected in a chart. */
export function rangeOf(fromMs: number, toMs: number): TimeRange {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

/** The same centre, `factor` times as long. */
export function widened({ fromMs, toMs }: Span, factor: number): TimeRange {
  const middle = (fromMs + toMs) / 2;
  const half = ((toMs - fromMs) / 2) * factor;
  return rangeOf(middle - half, middle + half);
}
