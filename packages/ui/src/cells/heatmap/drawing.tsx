// The frequency of values over time.
import { heatOf } from '../../dashboards/frames.ts';
import { texts } from '../../texts/texts.ts';
import type { DrawingProps } from '../kind.ts';
import { Times } from '../times.tsx';
import { shownValue } from '../value-text.ts';

const t = texts.dashboards;

const HEAT_SIZE = { columns: 60, rows: 14 };

export function Drawing({ data, answer, cell }: DrawingProps) {
  const { span } = answer;
  const write = (value: number): string => shownValue(cell, value).text;
  const heat = heatOf(data, span, HEAT_SIZE);
  if (heat === undefined) return null;
  const { columns, rows } = HEAT_SIZE;
  return (
    <figure class="heat-map">
      <div class="heat-scale muted small">
        <span>{write(heat.high)}</span>
        <span>{write(heat.low)}</span>
      </div>
      <svg
        viewBox={`0 0 ${columns} ${rows}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${cell.title}: ${texts.charts.seriesCount(data.series.length)}, ${t.heat(heat.max)}`}
      >
        {heat.counts.flatMap((column, x) =>
          column.map((count, y) =>
            count === 0 ? null : (
              <rect
                key={`${x} ${y}`}
                x={x}
                y={rows - 1 - y}
                width="1.02"
                height="1.02"
                fill-opacity={(0.15 + 0.85 * (count / heat.max)).toFixed(3)}
              />
            ),
          ),
        )}
      </svg>
      <Times span={span} />
    </figure>
  );
}
