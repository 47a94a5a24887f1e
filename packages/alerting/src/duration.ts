// Durations as scripts, configuration and clients write them.

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
