// Conversions, time parts, conditionals and the stateful functions of lambdas.
import { formatDuration, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { ValueType } from '../data/schema.ts';
import { parseDuration } from '@tidemark/tickscript';
import { EvaluationError } from './errors.ts';
import type { CallContext, FunctionRow, FunctionState, Signature } from './function.ts';
import { single } from './function.ts';
import { formatFloatPlain, parseFloatText, quote } from './text.ts';

const NANOS_PER_MS = 1_000_000n;

function parseBool(text: string): boolean {
  switch (text) {
    case '1':
    case 't':
    case 'T':
    case 'TRUE':
    case 'true':
    case 'True':
      return true;
    case '0':
    case 'f':
    case 'F':
    case 'FALSE':
    case 'false':
    case 'False':
      return false;
    default:
      throw new EvaluationError(`strconv.ParseBool: parsing ${quote(text)}: invalid syntax`);
  }
}

function parseInt64(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) {
    throw new EvaluationError(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  }
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  if (value < MIN_INT64 || value > MAX_INT64) {
    throw new EvaluationError(`strconv.ParseInt: parsing ${quote(text)}: value out of range`);
  }
  return value;
}

/** Truncates toward zero; values outside int64 become its smallest value, as recorded. */
export function floatToInt(value: number): bigint {
  const whole = Math.trunc(value);
  if (!(whole >= -9223372036854775808 && whole < 9223372036854775808)) return MIN_INT64;
  return BigInt(whole);
}

function numberToBool(value: number | bigint): boolean {
  if (Number(value) === 1) return true;
  if (Number(value) === 0) return false;
  const text = typeof value === 'bigint' ? String(value) : formatFloatPlain(value);
  throw new EvaluationError(`cannot convert ${text} to boolean`);
}

function parseFloatOrFail(text: string): number {
  const value = parseFloatText(text);
  if (value === undefined) {
    throw new EvaluationError(`strconv.ParseFloat: parsing ${quote(text)}: invalid syntax`);
  }
  return value;
}

function parseDurationOrFail(text: string): bigint {
  // `us` is a unit elsewhere, but not here.
  const nanos = /\d[uµ]s/.test(text) ? undefined : parseDuration(text);
  if (nanos === undefined) throw new EvaluationError(`invalid duration string ${quote(text)}`);
  return nanos;
}

const CONVERSIONS: readonly FunctionRow[] = [
  {
    name: 'bool',
    signatures: [
      { args: ['boolean'], result: 'boolean', call: (b: boolean) => b },
      { args: ['string'], result: 'boolean', call: parseBool },
      { args: ['int'], result: 'boolean', call: numberToBool },
      { args: ['float'], result: 'boolean', call: numberToBool },
    ],
  },
  {
    name: 'int',
    signatures: [
      { args: ['boolean'], result: 'int', call: (b: boolean) => (b ? 1n : 0n) },
      { args: ['string'], result: 'int', call: parseInt64 },
      { args: ['int'], result: 'int', call: (i: bigint) => i },
      { args: ['float'], result: 'int', call: floatToInt },
    ],
  },
  {
    name: 'float',
    signatures: [
      { args: ['boolean'], result: 'float', call: (b: boolean) => (b ? 1 : 0) },
      { args: ['string'], result: 'float', call: parseFloatOrFail },
      { args: ['int'], result: 'float', call: (i: bigint) => Number(i) },
      { args: ['float'], result: 'float', call: (f: number) => f },
    ],
  },
  {
    name: 'string',
    signatures: [
      { args: ['boolean'], result: 'string', call: (b: boolean) => String(b) },
      { args: ['string'], result: 'string', call: (s: string) => s },
      { args: ['int'], result: 'string', call: (i: bigint) => String(i) },
      { args: ['float'], result: 'string', call: formatFloatPlain },
      { args: ['duration'], result: 'string', call: formatDuration },
    ],
  },
  {
    name: 'duration',
    signatures: [
      { args: ['duration'], result: 'duration', call: (d: bigint) => d },
      {
        args: ['int', 'duration'],
        result: 'duration',
        call: (i: bigint, unit: bigint) => BigInt.asIntN(64, i * unit),
      },
      {
        args: ['float', 'duration'],
        result: 'duration',
        call: (f: number, unit: bigint) => floatToInt(f * Number(unit)),
      },
      { args: ['string', 'duration'], result: 'duration', call: parseDurationOrFail },
    ],
  },
];

/** Local time parts. Seconds of a day repeat, so the last instant's date is kept. */
let lastTime = 0n;
let lastDate = new Date(0);
function localDate(time: bigint): Date {
  if (time !== lastTime) {
    lastTime = time;
    const ms = time >= 0n ? time / NANOS_PER_MS : (time - NANOS_PER_MS + 1n) / NANOS_PER_MS;
    lastDate = new Date(Number(ms));
  }
  return lastDate;
}

const timePart = (name: string, part: (date: Date) => number): FunctionRow =>
  single(name, ['time'], 'int', (time: bigint) => BigInt(part(localDate(time))));

const TIME_FUNCTIONS: readonly FunctionRow[] = [
  single('unixNano', ['time'], 'int', (time: bigint) => time),
  timePart('minute', (date) => date.getMinutes()),
  timePart('hour', (date) => date.getHours()),
  timePart('weekday', (date) => date.getDay()),
  timePart('day', (date) => date.getDate()),
  timePart('month', (date) => date.getMonth() + 1),
  timePart('year', (date) => date.getFullYear()),
  {
    name: 'now',
    isContextual: true,
    signatures: [{ args: [], result: 'time', call: (context: CallContext) => context.now() }],
  },
];

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];

/**
 * SI units, one decimal below ten: `5.4 kB`, `83 MB`. Negative sizes wrap to unsigned, as recorded.
 */
export function humanBytes(value: bigint): string {
  const size = BigInt.asUintN(64, value);
  if (size < 10n) return `${size} B`;
  const number = Number(size);
  const exponent = Math.min(Math.floor(Math.log(number) / Math.log(1000)), SIZES.length - 1);
  const scaled = Math.floor((number / 1000 ** exponent) * 10 + 0.5) / 10;
  const digits = scaled < 10 ? scaled.toFixed(1) : scaled.toFixed(0);
  return `${digits} ${SIZES[exponent] ?? ''}`;
}

const IF_TYPES: readonly ValueType[] = [
  'float',
  'int',
  'string',
  'boolean',
  'regex',
  'time',
  'duration',
];

const ifSignatures: Signature[] = IF_TYPES.map((type) => ({
  args: ['boolean', type, type],
  result: type,
  call: <T>(condition: boolean, a: T, b: T) => (condition ? a : b) as never,
}));

const MISCELLANEOUS: readonly FunctionRow[] = [
  {
    name: 'humanBytes',
    signatures: [
      { args: ['int'], result: 'string', call: humanBytes },
      { args: ['float'], result: 'string', call: (f: number) => humanBytes(floatToInt(f)) },
    ],
  },
  { name: 'if', signatures: ifSignatures },
  {
    name: 'isPresent',
    signatures: [
      { args: ['missing'], result: 'boolean', call: () => false },
      ...(['boolean', 'string', 'int', 'float'] as const).map((type): Signature => ({
        args: [type],
        result: 'boolean',
        call: () => true,
      })),
    ],
  },
  {
    name: 'rand',
    isContextual: true,
    signatures: [
      { args: [], result: 'int', call: (context: CallContext) => randomBelow(context, 2n ** 63n) },
      {
        args: ['int'],
        result: 'int',
        call: (context: CallContext, n: bigint) => {
          if (n <= 0n) throw new EvaluationError('invalid argument to rand, must be positive');
          return randomBelow(context, n);
        },
      },
    ],
  },
];

function randomBelow(context: CallContext, limit: bigint): bigint {
  const high = BigInt(Math.floor(context.random() * 2 ** 32));
  const low = BigInt(Math.floor(context.random() * 2 ** 32));
  return ((high << 32n) | low) % limit;
}

const STATEFUL: readonly FunctionRow[] = [
  {
    name: 'count',
    init: () => ({ count: 0 }),
    signatures: [
      {
        args: [],
        result: 'int',
        call: (state: FunctionState) => {
          const count = (state['count'] ?? 0) + 1;
          state['count'] = count;
          return BigInt(count);
        },
      },
    ],
  },
  {
    name: 'sigma',
    init: () => ({ count: 0, mean: 0, m2: 0 }),
    signatures: [{ args: ['float'], result: 'float', call: sigma }],
  },
  {
    name: 'spread',
    init: () => ({ count: 0, min: 0, max: 0 }),
    signatures: [{ args: ['float'], result: 'float', call: spread }],
  },
];

/**
 * Distance from the running mean in standard deviations; the mean already includes `x` (Welford).
 */
function sigma(state: FunctionState, x: number): number {
  const count = (state['count'] ?? 0) + 1;
  const delta = x - (state['mean'] ?? 0);
  const mean = (state['mean'] ?? 0) + delta / count;
  const m2 = (state['m2'] ?? 0) + delta * (x - mean);
  state['count'] = count;
  state['mean'] = mean;
  state['m2'] = m2;
  const variance = count < 2 ? 0 : m2 / (count - 1);
  return variance === 0 ? 0 : Math.abs(x - mean) / Math.sqrt(variance);
}

function spread(state: FunctionState, x: number): number {
  const isFirst = state['count'] === 0;
  state['count'] = (state['count'] ?? 0) + 1;
  if (isFirst || x < (state['min'] ?? 0)) state['min'] = x;
  if (isFirst || x > (state['max'] ?? 0)) state['max'] = x;
  return (state['max'] ?? 0) - (state['min'] ?? 0);
}

export const MISCELLANEOUS_FUNCTIONS: readonly FunctionRow[] = [
  ...CONVERSIONS,
  ...TIME_FUNCTIONS,
  ...MISCELLANEOUS,
  ...STATEFUL,
];
