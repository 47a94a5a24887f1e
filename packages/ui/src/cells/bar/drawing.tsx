// One bar for each group; for series with times, bars over time.
import { calculated } from '../../charts/calc.ts';
import { colourOf } from '../../charts/colours.ts';
import { numbersOf } from '../../dashboards/frames.ts';
import type { DrawingProps } from '../kind.ts';
import { Drawing as Lines } from '../lines/drawing.tsx';
import { valueOf } from '../option.ts';
import { CALC } from '../options/calc.ts';
import { UNIT } from '../options/values.ts';
import { shownValue } from '../value-text.ts';
import { IS_PER_SERIES } from './kind.ts';

export function Drawing(props: DrawingProps) {
  const { cell, data } = props;
  const isOverTime = data.series.some(({ values }) => values.length > 1);
  if (isOverTime && !valueOf(cell, IS_PER_SERIES)) return <Lines {...props} />;
  const calc = valueOf(cell, CALC);
  const bars = data.series.map((line) => ({ line, value: calculated(calc, numbersOf(line)) }));
  const largest = bars.reduce((most, { value }) => Math.max(most, Math.abs(value) || 0), 0) || 1;
  // A share is a part of the whole.
  const unit = valueOf(cell, UNIT);
  const whole = unit === 'percent' ? 100 : unit === 'ratio' ? 1 : 0;
  const max = Math.max(largest, whole);
  return (
    <table class="table bars">
      <caption class="hidden-visually">{cell.title}</caption>
      <tbody>
        {bars.map(({ line, value }, i) => {
          const { text, level } = shownValue(cell, value, line.look);
          return (
            <tr key={line.label}>
              <th scope="row">{line.label}</th>
              <td class="bar">
                <span
                  class={level ?? ''}
                  style={{
                    width: `${((Math.abs(value) || 0) / max) * 100}%`,
                    '--own': `var(--${colourOf(line, i)})`,
                  }}
                />
              </td>
              <td class="number">{text}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
