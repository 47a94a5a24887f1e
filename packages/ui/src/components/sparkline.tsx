// A line without axes, for a trend beside a number.

/** Draws `values` (oldest first) scaled to their maximum. Says so when there is nothing to draw. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  if (values.length < 2)
    return <p class="muted">no data yet; the first values appear within half a minute</p>;
  const width = 280;
  const height = 48;
  const max = Math.max(...values, 1e-9);
  const step = width / (values.length - 1);
  const points = values.map(
    (v, i) => `${(i * step).toFixed(1)},${(height - 2 - (v / max) * (height - 4)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <polyline points={points.join(' ')} />
    </svg>
  );
}
