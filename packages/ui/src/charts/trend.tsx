// A sparkline with its axes: the latest value, a scale from zero, and how far back it goes.
import { Sparkline } from './sparkline.tsx';

/** Round maxima, in steps of the base. */
const ROUND = [1, 2, 4, 5, 8, 10, 16, 20, 32, 40, 50, 64, 80, 100, 128, 200, 256, 400, 500, 512];

export function Trend({
  label,
  values,
  format,
  base = 1000,
  from,
  to,
}: {
  readonly label: string;
  /** Oldest first, at least two. */
  readonly values: readonly number[];
  readonly format: (value: number) => string;
  /** 1024 for bytes. */
  readonly base?: 1000 | 1024;
  /** What the ends of the time axis are called. */
  readonly from: string;
  readonly to: string;
}) {
  const top = roundAbove(Math.max(...values), base);
  const latest = format(values.at(-1) ?? 0);
  return (
    <figure class="trend">
      <figcaption>
        {label} <b>{latest}</b>
      </figcaption>
      <div class="trend-y" aria-hidden="true">
        <span>{format(top)}</span>
        <span>{format(top / 2)}</span>
        <span>0</span>
      </div>
      <Sparkline values={values} max={top} label={`${label}: ${latest}`} />
      <div class="trend-x" aria-hidden="true">
        <span>{from}</span>
        <span>{to}</span>
      </div>
    </figure>
  );
}

function roundAbove(value: number, base: number): number {
  let unit = 1;
  while (value > unit * base) unit *= base;
  return unit * (ROUND.find((each) => each * unit >= value) ?? base);
}
