// An arc from minimum to maximum, with thresholds along it.
import { calculated } from '../../charts/calc.ts';
import type { ChartSeries } from '../../charts/data.ts';
import { numbersOf } from '../../dashboards/frames.ts';
import type { Cell } from '../../dashboards/model.ts';
import type { DrawingProps } from '../kind.ts';
import { valueOf } from '../option.ts';
import { CALC } from '../options/calc.ts';
import { ARE_SHARES, THRESHOLDS } from '../options/levels.ts';
import { shownValue } from '../value-text.ts';
import { MAX, MIN } from './kind.ts';

export function Drawing({ data, cell }: DrawingProps) {
  return (
    <div class="gauges">
      {data.series.map((line) => (
        <Gauge key={line.label} line={line} cell={cell} />
      ))}
    </div>
  );
}

function Gauge({ line, cell }: { readonly line: ChartSeries; readonly cell: Cell }) {
  const { label, look } = line;
  const [min, max] = [valueOf(cell, MIN), valueOf(cell, MAX)];
  const value = calculated(valueOf(cell, CALC), numbersOf(line));
  const share = (at: number): number => Math.min(1, Math.max(0, (at - min) / (max - min || 1)));
  const areShares = valueOf(cell, ARE_SHARES);
  const thresholds = valueOf(cell, THRESHOLDS).map((each) =>
    areShares ? { ...each, value: min + (each.value / 100) * (max - min) } : each,
  );
  const { text, level } = shownValue(cell, value, { thresholds, ...look });
  const steps = thresholds
    .toSorted((a, b) => a.value - b.value)
    .map((each, i, all) => ({
      level: each.level,
      from: share(each.value),
      to: i + 1 < all.length ? share(all[i + 1]?.value ?? max) : 1,
    }));
  return (
    <figure class="gauge">
      <svg viewBox="0 0 120 70" role="img" aria-label={`${label}: ${text}`}>
        <path class="gauge-track" d={arc(0, 1, 48)} />
        {steps.map((step, i) => (
          <path key={i} class={`gauge-step ${step.level}`} d={arc(step.from, step.to, 56)} />
        ))}
        {Number.isNaN(value) ? null : (
          <path class={`gauge-value ${level ?? ''}`} d={arc(0, share(value), 48)} />
        )}
        <text x="60" y="56" text-anchor="middle">
          {text}
        </text>
      </svg>
      <figcaption class="muted small">{label}</figcaption>
    </figure>
  );
}

/** Part of a half circle, from left (0) to right (1). */
function arc(from: number, to: number, radius: number): string {
  const point = (share: number): string => {
    const angle = Math.PI * (1 - share);
    return `${(60 + radius * Math.cos(angle)).toFixed(2)} ${(62 - radius * Math.sin(angle)).toFixed(2)}`;
  };
  return `M${point(from)} A${radius} ${radius} 0 0 1 ${point(to)}`;
}
