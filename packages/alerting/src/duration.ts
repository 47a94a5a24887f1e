// Durations as text: what scripts, configuration and clients write, and what answers print.

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  n: 1n,
  us: 1_000n,
  u: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  µ: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};

const PART = /(\d+)(?:\.(\d+))?(ns|us|µs|μs|ms|[nuµsmhdw])/y;

/**
 * Nanoseconds of `1h2m3.5s`, `10s`, `5d`, `0` or `-30s`; `undefined` when the text is anything else.
 * Units from nanoseconds to weeks, fractions allowed.
 */
export function parseDurationText(text: string): bigint | undefined {
  if (text === '0') return 0n;
  const isNegative = text.startsWith('-');
  let offset = isNegative || text.startsWith('+') ? 1 : 0;
  if (offset === text.length) return undefined;
  let nanos = 0n;
  while (offset < text.length) {
    PART.lastIndex = offset;
    const part = PART.exec(text);
    if (part === null) return undefined;
    const unit = UNIT_NANOS[part[3] ?? ''];
    if (unit === undefined) return undefined;
    nanos += BigInt(part[1] ?? '0') * unit;
    const fraction = part[2];
    if (fraction !== undefined) nanos += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
    offset = PART.lastIndex;
  }
  return isNegative ? -nanos : nanos;
}

/** Prints as `1h2m3.5s`, `1m0s`, `250ms`, `0s`: hours are the largest unit, as clients expect. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const abs = nanos < 0n ? -nanos : nanos;
  if (abs < 1_000n) return `${sign}${abs}ns`;
  if (abs < 1_000_000n) return `${sign}${decimal(abs, 1_000n)}µs`;
  if (abs < 1_000_000_000n) return `${sign}${decimal(abs, 1_000_000n)}ms`;
  const minutes = abs / 60_000_000_000n;
  const seconds = `${decimal(abs % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return sign + seconds;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const rest = value % unit;
  if (rest === 0n) return String(value / unit);
  const digits = String(unit).length - 1;
  return `${value / unit}.${String(rest).padStart(digits, '0').replace(/0+$/, '')}`;
}
