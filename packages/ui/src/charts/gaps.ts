// The step of a line, and gaps that are bridged.
import type { ChartSeries } from './data.ts';

type Points = Pick<ChartSeries, 'times' | 'values'>;

/** A gap that is this many times the usual one is an outage, not the step of the data. */
const OUTAGE_STEPS = 5;
/** Fewer gaps have no usual one. */
const GAPS_MIN = 3;

/**
 * Mean time between values of a line, outages left out; `undefined` for a few values.
 */
export function stepOf({ times, values }: Points): number | undefined {
  const gaps: number[] = [];
  let last = NaN;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    const time = times[i] ?? NaN;
    if (time > last) gaps.push(time - last);
    last = time;
  }
  if (gaps.length < GAPS_MIN) return undefined;
  const middle = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  const usual = gaps.filter((gap) => gap <= middle * OUTAGE_STEPS);
  return usual.reduce((sum, gap) => sum + gap, 0) / usual.length;
}

/** Less than two steps: a window that lacks its value stays a gap. */
const OWN_STEPS = 1.7;

/**
 * The line without the missing values of gaps up to a length; by default those within the step of
 * the line, whose windows are shorter than it.
 */
export function bridged<T extends Points>(line: T, bridgeMs?: number): T {
  const { times, values } = line;
  if (bridgeMs === 0 || !values.some(Number.isNaN)) return line;
  const longest = bridgeMs ?? (stepOf(line) ?? 0) * OWN_STEPS;
  const kept: number[] = [];
  let last = NaN;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    // A gap that is too long stays: its first missing value interrupts the line.
    const isGap = i > 0 && Number.isNaN(values[i - 1]);
    if (isGap && (times[i] ?? 0) - last > longest) kept.push(i - 1);
    kept.push(i);
    last = times[i] ?? NaN;
  }
  return {
    ...line,
    times: Float64Array.from(kept, (i) => times[i] ?? NaN),
    values: Float64Array.from(kept, (i) => values[i] ?? NaN),
  };
}
