// Numbers, bytes and durations as people write them, without the table of units: `1234567` →
// `1.23M`; small numbers keep three significant digits.

export const STEPS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
export const BINARY_STEPS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

export function digits(value: number, decimals?: number): string {
  if (decimals !== undefined) return value.toFixed(Math.min(20, Math.max(0, Math.round(decimals))));
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

/** With a unit: `1,500` W → `1.5 kW`. */
export function short(value: number, decimals?: number): string {
  let rest = value;
  let step = 0;
  while (Math.abs(rest) >= 10_000 || (step > 0 && Math.abs(rest) >= 1000)) {
    rest /= 1000;
    step++;
  }
  return step >= STEPS.length
    ? value.toExponential(2)
    : digits(rest, decimals) + (STEPS[step] ?? '');
}

/** The suffix of a rate follows without a space: 1.5k/s. */
export function stepped(
  value: number,
  suffix: string,
  {
    steps,
    size,
    decimals,
  }: {
    readonly steps: readonly string[];
    readonly size: number;
    readonly decimals?: number | undefined;
  },
): string {
  let rest = value;
  let step = 0;
  while (Math.abs(rest) >= size && step < steps.length - 1) {
    rest /= size;
    step++;
  }
  // A rate is no quantity of its own: 1.5k/s.
  const space = suffix.startsWith('/') ? '' : ' ';
  return `${digits(rest, decimals)}${space}${steps[step] ?? ''}${suffix}`;
}

/** `1536` → `1.5 KiB`. */
export function formatBytes(value: number): string {
  return stepped(value, 'B', { steps: BINARY_STEPS, size: 1024 });
}

const SPANS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
  [0.001, 'µs'],
];

/** Milliseconds as `1.5 s`, `20 ms`, `3 d`. */
export function formatMs(value: number): string {
  return durationText(value, undefined);
}

export function durationText(value: number, decimals: number | undefined): string {
  const [size, name] = SPANS.find(([span]) => Math.abs(value) >= span) ?? [0.000_001, 'ns'];
  return value === 0 ? '0 ms' : `${digits(value / size, decimals)} ${name}`;
}
