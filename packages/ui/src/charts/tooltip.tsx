// The values of all lines at the time below the cursor, the nearest line first.
import { useLayoutEffect, useRef } from 'preact/hooks';

import { texts } from '../texts/texts.ts';

const t = texts.charts;

export type TooltipRow = {
  readonly label: string;
  readonly colour: string;
  readonly value: string;
};

/** More rows would not fit; the legend finds the others. */
const ROWS_MAX = 12;
/** Between the pointer and the box. */
const OFFSET = 14;
const MARGIN = 8;

/** `x` and `y` are the position of the cursor within the window. */
export function Tooltip({
  time,
  rows,
  x,
  y,
}: {
  readonly time: string;
  readonly rows: readonly TooltipRow[];
  readonly x: number;
  readonly y: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const isLeft = x + OFFSET + width > window.innerWidth - MARGIN;
    const left = isLeft ? x - OFFSET - width : x + OFFSET;
    const top = Math.min(y + OFFSET, window.innerHeight - MARGIN - height);
    element.style.transform = `translate(${Math.max(MARGIN, left)}px, ${Math.max(MARGIN, top)}px)`;
  });
  return (
    <div ref={box} class="chart-tooltip" role="tooltip">
      <strong>{time}</strong>
      <table>
        <tbody>
          {rows.slice(0, ROWS_MAX).map(({ label, colour, value }) => (
            <tr key={label}>
              <td>
                <span class="legend-colour" style={{ background: `var(--${colour})` }} />
                {label}
              </td>
              <td class="number">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX ? (
        <span class="muted">{t.moreSeries(rows.length - ROWS_MAX)}</span>
      ) : null}
    </div>
  );
}
