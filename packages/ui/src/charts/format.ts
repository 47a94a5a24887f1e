// `1234567` → `1.23M`; small numbers keep three significant digits.
import { shapeOfUnit } from './units.ts';
import type { UnitShape } from './units.ts';

const STEPS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_STEPS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

function digits(value: number, decimals?: number): string {
  if (decimals !== undefined) return value.toFixed(Math.min(20, Math.max(0, Math.round(decimals))));
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

/** With a unit: `1,500` W → `1.5 kW`. */
function short(value: number, decimals?: number): string {
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
function stepped(
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

function durationText(value: number, decimals: number | undefined): string {
  const [size, name] = SPANS.find(([span]) => Math.abs(value) >= span) ?? [0.000_001, 'ns'];
  return value === 0 ? '0 ms' : `${digits(value / size, decimals)} ${name}`;
}

/**
 * A value with its unit (`units.ts`), with `decimals` decimals if given; an en dash for a missing
 * value.
 */
export function formatValue(value: number, unit = 'none', decimals?: number): string {
  return Number.isNaN(value) ? '–' : shaped(value, shapeOfUnit(unit), decimals);
}

function shaped(value: number, shape: UnitShape, decimals: number | undefined): string {
  switch (shape.kind) {
    case 'plain':
      return `${short(value, decimals)} ${shape.suffix}`;
    case 'si':
      return shape.suffix.startsWith('/')
        ? short(value * shape.scale, decimals) + shape.suffix
        : stepped(value * shape.scale, shape.suffix, { steps: STEPS, size: 1000, decimals });
    case 'binary':
      return stepped(value * shape.scale, shape.suffix, {
        steps: BINARY_STEPS,
        size: 1024,
        decimals,
      });
    case 'duration':
      return durationText(value * shape.ms, decimals);
    case 'percent':
      return `${digits(value * shape.factor, decimals)} %`;
    case 'currency': {
      const text = short(value, decimals);
      return shape.isAfter ? `${text} ${shape.symbol}` : `${shape.symbol}${text}`;
    }
    case 'choice':
      return value === 0 ? shape.no : shape.yes;
    case 'number':
      return numbered(value, shape.style, decimals);
    case 'instant':
      return instantOf(value, shape.style);
  }
}

function numbered(
  value: number,
  style: Extract<UnitShape, { readonly kind: 'number' }>['style'],
  decimals: number | undefined,
): string {
  switch (style) {
    case 'short':
      return short(value, decimals);
    case 'locale':
      return value.toLocaleString(
        'en-US',
        decimals === undefined
          ? {}
          : { minimumFractionDigits: decimals, maximumFractionDigits: decimals },
      );
    case 'exponent':
      return value.toExponential(decimals ?? 2);
    case 'hex':
    case 'hex0x': {
      const text = Math.trunc(value).toString(16).toUpperCase();
      return style === 'hex' ? text : text.replace(/^(-?)/, '$10x');
    }
  }
}

function instantOf(
  ms: number,
  style: Extract<UnitShape, { readonly kind: 'instant' }>['style'],
): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return short(ms);
  const iso = date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '');
  if (style !== 'fromNow') return style === 'iso' ? iso : date.toLocaleString();
  const age = Date.now() - ms;
  return age >= 0 ? `${formatMs(age)} ago` : `in ${formatMs(-age)}`;
}
