// Numbers as people read them: on axes, in legends, in single values.

export type Unit =
  | 'none'
  | 'bytes'
  | 'bytes-per-second'
  | 'percent'
  | 'ratio'
  | 'ms'
  | 's'
  | 'ns'
  | 'per-second';

const STEPS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

function digits(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

/** `1234567` → `1.23M`; small numbers keep three figures. */
function short(value: number): string {
  let rest = value;
  let step = 0;
  while (Math.abs(rest) >= 10_000 || (step > 0 && Math.abs(rest) >= 1000)) {
    rest /= 1000;
    step++;
  }
  return step >= STEPS.length ? value.toExponential(2) : digits(rest) + (STEPS[step] ?? '');
}

/** `1536` → `1.5 KiB`. */
export function formatBytes(value: number): string {
  let rest = value;
  let step = 0;
  while (Math.abs(rest) >= 1024 && step < BINARY.length - 1) {
    rest /= 1024;
    step++;
  }
  return `${digits(rest)} ${BINARY[step] ?? ''}`;
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
  const [size, name] = SPANS.find(([span]) => Math.abs(value) >= span) ?? [0.000_001, 'ns'];
  return value === 0 ? '0 ms' : `${digits(value / size)} ${name}`;
}

/** A value with its unit; an en dash for none. */
export function formatValue(value: number, unit: Unit = 'none'): string {
  if (Number.isNaN(value)) return '–';
  switch (unit) {
    case 'none':
      return short(value);
    case 'bytes':
      return formatBytes(value);
    case 'bytes-per-second':
      return `${formatBytes(value)}/s`;
    case 'percent':
      return `${digits(value)} %`;
    case 'ratio':
      return `${digits(value * 100)} %`;
    case 'per-second':
      return `${short(value)}/s`;
    case 'ms':
      return formatMs(value);
    case 's':
      return formatMs(value * 1000);
    case 'ns':
      return formatMs(value / 1e6);
  }
}
