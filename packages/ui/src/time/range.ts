// Time spans as people choose them: "the last hour", "yesterday", or from one instant to another.
import { instantAt, shownZone, wallClock } from './zone.ts';

/**
 * Each end is `now-1h`, `now`, `now/d` (the day of now: its start, or as an end its last
 * millisecond), or an instant as RFC 3339, as milliseconds since 1970, or as wall-clock time of the
 * zone in which times are shown.
 */
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

type InstantOptions = {
  readonly nowMs: number;
  /** The zone of texts without one. */
  readonly zone: string;
  /** Whether it ends a range: a whole day then ends at its last millisecond. */
  readonly isEnd?: boolean | undefined;
};

const RELATIVE = /^now(?:\s*-\s*(\d+)\s*([smhdwMy]))?(?:\s*\/\s*([smhdwMy]))?$/;
const WALL_CLOCK = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)?$/;

/** An instant in milliseconds; `undefined` for an invalid text. */
export function parseInstant(text: string, options: InstantOptions): number | undefined {
  const ms = instantOf(text, options);
  return ms === undefined || Number.isNaN(ms) ? undefined : ms;
}

function instantOf(text: string, options: InstantOptions): number | undefined {
  const { nowMs, zone, isEnd = false } = options;
  const trimmed = text.trim();
  const relative = RELATIVE.exec(trimmed);
  if (relative !== null) {
    const [, count = '0', unit = 's', rounded] = relative;
    const ms = earlier(nowMs, Number(count), unit, zone);
    return rounded === undefined ? ms : edgeOf(ms, rounded, options);
  }
  if (/^\d{11,}$/.test(trimmed)) return Number(trimmed);
  const wall = WALL_CLOCK.exec(trimmed);
  const ms =
    wall === null
      ? /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/i.test(trimmed)
        ? Date.parse(trimmed)
        : NaN
      : instantAt(Date.parse(`${wall[1]}T${wall[2] ?? '00:00'}${wall[3] ?? ''}Z`), zone);
  return wall !== null && wall[2] === undefined && isEnd ? edgeOf(ms, 'd', options) : ms;
}

/** Months and years have the length that they have in the zone. */
function earlier(nowMs: number, count: number, unit: string, zone: string): number {
  const unitMs = UNIT_MS[unit];
  if (unitMs !== undefined) return nowMs - count * unitMs;
  const wall = new Date(wallClock(nowMs, zone));
  wall.setUTCMonth(wall.getUTCMonth() - count * (unit === 'y' ? 12 : 1));
  return instantAt(wall.getTime(), zone);
}

/**
 * The start of the unit that contains an instant, or its last millisecond. Weeks begin on Monday.
 */
function edgeOf(ms: number, unit: string, { zone, isEnd }: InstantOptions): number {
  const wall = new Date(wallClock(ms, zone));
  const parts: [number, number, number, number, number, number] = [
    wall.getUTCFullYear(),
    wall.getUTCMonth(),
    wall.getUTCDate(),
    wall.getUTCHours(),
    wall.getUTCMinutes(),
    wall.getUTCSeconds(),
  ];
  const kept = 'yMdhms'.indexOf(unit === 'w' ? 'd' : unit) + 1;
  const first = [0, 0, 1, 0, 0, 0];
  for (let i = kept; i < parts.length; i++) parts[i] = first[i] ?? 0;
  if (unit === 'w') parts[2] -= (wall.getUTCDay() + 6) % 7;
  if (isEnd !== true) return instantAt(Date.UTC(...parts), zone);
  if (unit === 'w') parts[2] += 7;
  else parts[kept - 1] = (parts[kept - 1] ?? 0) + 1;
  return instantAt(Date.UTC(...parts), zone) - 1;
}

/** The current span of a range; `undefined` if an end is invalid, or the span is empty. */
export function spanOf(
  range: TimeRange,
  nowMs: number,
  zone: string = shownZone.value,
): Span | undefined {
  const fromMs = parseInstant(range.from, { nowMs, zone });
  const toMs = parseInstant(range.to, { nowMs, zone, isEnd: true });
  if (fromMs === undefined || toMs === undefined || fromMs >= toMs) return undefined;
  return { fromMs, toMs };
}

/**
 * The range with its instants in UTC, for links and documents: whoever opens them may have another
 * zone.
 */
export function portable(range: TimeRange, nowMs: number): TimeRange {
  const zone = shownZone.value;
  const printed = (text: string, isEnd: boolean): string => {
    if (isRelativeInstant(text)) return text.trim();
    const ms = parseInstant(text, { nowMs, zone, isEnd });
    return ms === undefined ? text : new Date(ms).toISOString();
  };
  return { from: printed(range.from, false), to: printed(range.to, true) };
}

export const isRelativeInstant = (text: string): boolean => text.trim().startsWith('now');

export const isRelative = ({ to }: TimeRange): boolean => isRelativeInstant(to);

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

/** The span of the same length before it, or after it. */
export function shifted({ fromMs, toMs }: Span, direction: -1 | 1): TimeRange {
  const by = (toMs - fromMs) * direction;
  return rangeOf(fromMs + by, toMs + by);
}
