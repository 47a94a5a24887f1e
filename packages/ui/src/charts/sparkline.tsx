// A line without axes, for a trend beside a number.

const WIDTH = 280;
const HEIGHT = 48;

/** Draws `values` (oldest first, at least two) scaled to `max`, or to their maximum. */
export function Sparkline({
  values,
  label,
  max = values.reduce((a, b) => Math.max(a, b), 1e-9),
}: {
  readonly values: readonly number[];
  readonly label: string;
  readonly max?: number;
}) {
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map(
    (value, i) =>
      `${(i * step).toFixed(1)},${(HEIGHT - 2 - (value / max) * (HEIGHT - 4)).toFixed(1)}`,
  );
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}
