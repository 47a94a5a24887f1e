// The frequency of values.
import { histogramOf } from '../../dashboards/frames.ts';
import { texts } from '../../texts/texts.ts';
import type { DrawingProps } from '../kind.ts';
import { valueOf } from '../option.ts';
import { shownValue } from '../value-text.ts';
import { BUCKETS } from './kind.ts';

const t = texts.dashboards;

export function Drawing({ data, cell }: DrawingProps) {
  const buckets = histogramOf(data, Math.max(1, valueOf(cell, BUCKETS)));
  const write = (value: number): string => shownValue(cell, value).text;
  const most = buckets.reduce((max, { count }) => Math.max(max, count), 1);
  const [first, last] = [buckets[0], buckets.at(-1)];
  return (
    <figure class="histogram">
      <div role="img" aria-label={`${cell.title}: ${texts.charts.seriesCount(data.series.length)}`}>
        {buckets.map(({ from, to, count }) => (
          <span
            key={from}
            style={{ height: `${(count / most) * 100}%` }}
            title={`${write(from)} – ${write(to)}: ${count}`}
          />
        ))}
      </div>
      <figcaption class="muted small">
        <span>{write(first?.from ?? NaN)}</span>
        <span>{t.heat(most)}</span>
        <span>{write(last?.to ?? NaN)}</span>
      </figcaption>
    </figure>
  );
}
