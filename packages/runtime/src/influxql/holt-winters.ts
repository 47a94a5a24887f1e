// holtWinters and holtWintersWithFit over the points of a batch, with the same numbers as the
// database.
import { finishSteps, forecast, forecastSize } from '@tidemark/query/forecast';
import type { ForecastOptions } from '@tidemark/query/forecast';
import type { Aggregate, AggregateResult, Samples } from './aggregate.ts';
import { compareValues, NUMBERS, timeAt } from './aggregate.ts';

/** Series longer than this are too long to fit in reasonable time. */
const SLOTS_MAX = 100_000;

/** The forecast for a node's options. */
export function forecastAggregate(
  given: {
    readonly forecastCount: bigint;
    readonly season: bigint;
    readonly intervalNanos: bigint;
  },
  { withFit }: { readonly withFit: boolean },
): Aggregate {
  const options: ForecastOptions = {
    predictions: Number(given.forecastCount),
    seasonLength: Number(given.season),
    // Without an interval the series would be endless.
    intervalNanos: given.intervalNanos > 0n ? given.intervalNanos : 1n,
    withFit,
  };
  return { types: NUMBERS, isMany: true, apply: (samples) => predicted(samples, options) };
}

function predicted(samples: Samples, options: ForecastOptions): AggregateResult[] {
  // Late points of a stream come after newer ones.
  const pairs = Array.from(samples.values, (value, i) => ({
    time: timeAt(samples, i),
    value: Number(value),
  }));
  pairs.sort((a, b) => compareValues(a.time, b.time));
  const times = pairs.map(({ time }) => time);
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined || options.predictions <= 0) return [];
  if (forecastSize(first, last, options).slots > SLOTS_MAX) return [];
  const values = pairs.map(({ value }) => value);
  const found = finishSteps(forecast(times, values, options));
  if (found === undefined) return [];
  return [...found.values].flatMap((value, i) =>
    Number.isNaN(value)
      ? []
      : {
          value,
          type: 'float' as const,
          time: found.start + options.intervalNanos * BigInt(i),
          isAtPoint: true,
          isAlwaysTimed: true,
        },
  );
}
