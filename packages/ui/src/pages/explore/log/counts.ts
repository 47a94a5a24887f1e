// How many events of each level there are, by intervals of time.
import type { QueryResponse, Series } from '@tidemark/client';
import { Internal } from '@tidemark/core';

import { durationOf, widthFrom } from '../../../query/macros.ts';
import type { LogRequest } from './events.ts';
import { countText, levelTexts } from './statements.ts';
import type { Bounds } from './statements.ts';

/** Bars across the page. */
const BARS = 90;
/** More values are no levels: the most frequent ones have colours, the rest is one. */
const LEVELS_MAX = 12;

/** A bar: events of one interval, by level. */
export type Bar = { readonly fromMs: number; readonly counts: ReadonlyMap<string, number> };

export type Counts = {
  readonly intervalMs: number;
  /** Ascending; intervals without events are left out. */
  readonly bars: readonly Bar[];
  /** Events of each level, also of levels that a filter hides. Empty for events without a level. */
  readonly totals: ReadonlyMap<string, number>;
};

/** Runs statements, separated by semicolons. */
export type ReadResults = (text: string, signal: AbortSignal) => Promise<QueryResponse>;

/** Counts by one aggregate per level. A filter of levels does not count, so that one can choose. */
export async function readCounts(
  read: ReadResults,
  { query, fromMs, toMs }: LogRequest,
  signal: AbortSignal,
): Promise<Counts> {
  const { source } = query;
  const bounds: Bounds = { from: `>= ${fromMs}ms`, to: `<= ${toMs}ms` };
  const intervalMs = widthFrom((toMs - fromMs) / BARS);
  const interval = durationOf(intervalMs);
  const counted = { ...query, filters: query.filters.filter(({ name }) => name !== source.level) };
  const run = async (texts: readonly string[]): Promise<readonly (readonly Series[])[]> => {
    const { results = [], error } = await read(texts.join('; '), signal);
    const failed = error ?? results.find((result) => result.error !== undefined)?.error;
    if (failed !== undefined) throw new Internal(failed);
    return texts.map((_, at) => results[at]?.series ?? []);
  };
  const bars = new Bars();
  const { level } = source;
  if (level === undefined) {
    const [all = []] = await run([countText(counted, bounds, { interval })]);
    for (const series of all) bars.add('', series);
  } else if (!source.fieldTypes.has(level)) {
    const [byTag = []] = await run([countText(counted, bounds, { interval, tag: level })]);
    for (const series of byTag) bars.add(series.tags?.[level] ?? '', series);
  } else {
    const [found = [], sums = []] = await run(levelTexts(source, bounds));
    const levels = (found[0]?.values ?? []).map((row) => String(row[1]));
    const [, all = 0, withLevel = 0] = (sums[0]?.values?.[0] ?? []).map(Number);
    const hasOthers = levels.length > LEVELS_MAX || all > withLevel;
    const shown = levels.slice(0, LEVELS_MAX);
    if (shown.length > 0 || hasOthers) {
      const texts = shown.map((one) => countText(counted, bounds, { interval, level: one }));
      if (hasOthers) texts.push(countText(counted, bounds, { interval }));
      const answers = await run(texts);
      shown.forEach((one, at) => answers[at]?.forEach((series) => bars.add(one, series)));
      if (hasOthers) answers.at(-1)?.forEach((series) => bars.addRest(series));
    }
  }
  return { intervalMs, ...bars.result() };
}

class Bars {
  readonly #bars = new Map<number, Map<string, number>>();

  add(level: string, series: Series): void {
    for (const [time, count] of series.values ?? []) this.#count(time, level, Number(count));
  }

  /** What the levels leave of all events. */
  addRest(series: Series): void {
    for (const [time, count] of series.values ?? []) {
      const known = this.#bars.get(Date.parse(String(time)))?.values() ?? [];
      const rest = [...known].reduce((left, one) => left - one, Number(count));
      // Events may have come between two statements.
      if (rest > 0) this.#count(time, '', rest);
    }
  }

  #count(time: unknown, level: string, count: number): void {
    if (count === 0) return;
    const ms = Date.parse(String(time));
    const bar = this.#bars.get(ms) ?? new Map<string, number>();
    bar.set(level, (bar.get(level) ?? 0) + count);
    this.#bars.set(ms, bar);
  }

  result(): Pick<Counts, 'bars' | 'totals'> {
    const totals = new Map<string, number>();
    for (const counts of this.#bars.values())
      for (const [level, count] of counts) totals.set(level, (totals.get(level) ?? 0) + count);
    const bars = [...this.#bars]
      .map(([fromMs, counts]): Bar => ({ fromMs, counts }))
      .toSorted((a, b) => a.fromMs - b.fromMs);
    return { bars, totals };
  }
}
