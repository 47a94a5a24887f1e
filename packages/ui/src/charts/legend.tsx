// Names and figures of a chart's series. A press hides one, with Ctrl all others.
import { useMemo } from 'preact/hooks';

import { texts } from '../texts/texts.ts';
import { seriesColour } from './colours.ts';
import { lowerBound, statsOf } from './data.ts';
import type { ChartData, ChartSeries } from './data.ts';
import { formatValue } from './format.ts';

const t = texts.charts;

export function Legend({
  data,
  span,
  cursorTime,
  hidden,
  unit,
  onToggle,
}: {
  readonly data: ChartData;
  readonly span: readonly [number, number] | undefined;
  readonly cursorTime: number | undefined;
  readonly hidden: ReadonlySet<string>;
  readonly unit: string;
  readonly onToggle: (index: number, isAlone: boolean) => void;
}) {
  const [from, to] = span ?? [-Infinity, Infinity];
  const stats = useMemo(() => data.series.map((one) => statsOf(one, from, to)), [data, from, to]);
  return (
    <div class="legend" role="group" aria-label={t.legend} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t.series}</th>
            {[t.min, t.max, t.mean, t.last, t.atCursor].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.series.map((one, index) => {
            const { min, max, mean, last } = stats[index] ?? statsOf(one, 0, -1);
            const isHidden = hidden.has(one.label);
            return (
              <tr key={one.label}>
                <td>
                  <button
                    type="button"
                    class="legend-name"
                    aria-pressed={isHidden ? 'false' : 'true'}
                    onClick={(event) => onToggle(index, event.ctrlKey || event.metaKey)}
                  >
                    <span
                      class="legend-colour"
                      style={{ background: isHidden ? '' : `var(--${seriesColour(index)})` }}
                    />
                    {one.label}
                  </button>
                </td>
                {[min, max, mean, last].map((value, i) => (
                  <td key={i} class="number">
                    {formatValue(value, unit)}
                  </td>
                ))}
                <td class="number">
                  {cursorTime === undefined ? '' : formatValue(valueAt(one, cursorTime), unit)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The value whose time is nearest. */
function valueAt({ times, values }: ChartSeries, time: number): number {
  const after = lowerBound(times, time);
  const before = Math.max(0, after - 1);
  const isBefore = time - (times[before] ?? -Infinity) <= (times[after] ?? Infinity) - time;
  return values[isBefore ? before : after] ?? NaN;
}
