// Macros of a statement for the span and the width of a page: `$timeFilter`, `$interval`. Other
// dashboards for this language use the same names.

export type MacroValues = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Duration of one bucket, as a literal of the language. */
  readonly interval: string;
};

type Macro = { readonly name: string; readonly info: string };

/** Names of all macros, without the dollar, including Grafana's. */
export const MACRO_NAMES: readonly string[] = [
  'timeFilter',
  'interval',
  '__interval',
  '__interval_ms',
  '__range',
  '__range_s',
  '__range_ms',
  '__from',
  '__to',
];

export const MACROS: readonly Macro[] = [
  { name: '$timeFilter', info: 'time >= … AND time <= … of the span that is chosen above' },
  { name: '$interval', info: 'width of one point on the screen, for GROUP BY time($interval)' },
];

/** Longer names first; also in braces. */
const ANY_NAME = MACRO_NAMES.toSorted((a, b) => b.length - a.length).join('|');
const PATTERN = new RegExp(String.raw`\$(${ANY_NAME})\b|\$\{(${ANY_NAME})\}`, 'g');

/** Whether a text depends on the span of the page. */
export function hasTimeFilter(text: string): boolean {
  return text.includes('$timeFilter');
}

export type Expanded = {
  readonly text: string;
  /** Maps an offset in the expanded text to the original. */
  readonly originalOffset: (offset: number) => number;
};

/** The text with macros replaced by values. */
export function expandMacros(text: string, values: MacroValues): Expanded {
  const shifts: { readonly end: number; readonly start: number; readonly by: number }[] = [];
  let by = 0;
  const expanded = text.replace(PATTERN, (all, name = '', braced = '', at: number) => {
    const value = valueOf(name + braced, values);
    const start = at + by;
    by += value.length - all.length;
    shifts.push({ start, end: start + value.length, by });
    return value;
  });
  return {
    text: expanded,
    originalOffset: (offset) => {
      let shift = 0;
      for (const each of shifts) {
        if (offset <= each.start) break;
        // Within an inserted value: at the end of the macro.
        if (offset < each.end) return each.end - each.by;
        shift = each.by;
      }
      return offset - shift;
    },
  };
}

function valueOf(name: string, { fromMs, toMs, interval }: MacroValues): string {
  const from = Math.floor(fromMs);
  const to = Math.ceil(toMs);
  switch (name) {
    case 'timeFilter':
      return `time >= ${from}ms AND time <= ${to}ms`;
    case '__from':
      return String(from);
    case '__to':
      return String(to);
    case '__range_ms':
      return String(to - from);
    case '__range_s':
      return String(Math.round((to - from) / 1000));
    case '__range':
      return `${Math.max(1, Math.round((to - from) / 1000))}s`;
    case '__interval_ms':
      return String(millisecondsOf(interval));
    default:
      return interval;
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of a duration with one unit, as `intervalOf` writes; 0 for anything else. */
export function millisecondsOf(duration: string): number {
  const [, count = '0', unit = 'ms'] = /^(\d+)([a-z]+)$/.exec(duration) ?? [];
  return Number(count) * (UNIT_MS[unit] ?? 1);
}

/** Usual widths of buckets, in milliseconds. */
const WIDTHS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000,
  300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000,
  86_400_000, 172_800_000, 604_800_000, 2_592_000_000,
];

/** The smallest usual width that is not below a number of milliseconds. */
export const widthFrom = (ms: number): number =>
  WIDTHS.find((width) => width >= ms) ?? WIDTHS.at(-1) ?? 1;

/** The width for a span: about one bucket for two pixels. */
export function intervalOf(spanMs: number, widthPixels: number): string {
  return durationOf(widthFrom(spanMs / Math.max(20, widthPixels / 2)));
}

/** A number of milliseconds as a literal of the language, in its largest whole unit. */
export function durationOf(ms: number): string {
  if (ms % 86_400_000 === 0) return `${ms / 86_400_000}d`;
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  if (ms % 60_000 === 0) return `${ms / 60_000}m`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/** Whether a text depends on the width of a point. */
export const usesInterval = (text: string): boolean => /\$\{?(__)?interval/.test(text);
