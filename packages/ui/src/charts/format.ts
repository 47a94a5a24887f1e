// `1234567` → `1.23M`; small numbers keep three significant digits.
import { BINARY_STEPS, digits, durationText, formatMs, short, stepped, STEPS } from './quantity.ts';
import { shapeOfUnit } from './units.ts';
import type { UnitShape } from './units.ts';

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
