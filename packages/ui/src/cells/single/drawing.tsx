// The last value of each line, or another aggregate of it, with its trend.
import { calculated } from '../../charts/calc.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { numbersOf } from '../../dashboards/frames.ts';
import type { DrawingProps } from '../kind.ts';
import { valueOf } from '../option.ts';
import { CALC } from '../options/calc.ts';
import { shownValue } from '../value-text.ts';
import { HAS_TREND } from './kind.ts';

export function Drawing({ data, cell }: DrawingProps) {
  const calc = valueOf(cell, CALC);
  const hasTrend = valueOf(cell, HAS_TREND);
  return (
    <div class="single-values">
      {data.series.map((line) => {
        const numbers = numbersOf(line);
        const { text, level } = shownValue(cell, calculated(calc, numbers), line.look);
        return (
          <div key={line.label} class={`single-value ${level ?? ''}`}>
            <strong>{text}</strong>
            {data.series.length > 1 ? <span class="muted small">{line.label}</span> : null}
            {hasTrend && numbers.length > 1 ? <Trend numbers={numbers} label={line.label} /> : null}
          </div>
        );
      })}
    </div>
  );
}

const TREND_MAX = 140;

function Trend({
  numbers,
  label,
}: {
  readonly numbers: readonly number[];
  readonly label: string;
}) {
  // The picture is narrow: every n-th value, and always the last.
  const step = Math.ceil(numbers.length / TREND_MAX);
  const shown = numbers.filter((_, i) => (numbers.length - 1 - i) % step === 0);
  const low = shown.reduce((a, b) => Math.min(a, b), Infinity);
  return <Sparkline label={label} values={shown.map((value) => value - Math.min(low, 0))} />;
}
