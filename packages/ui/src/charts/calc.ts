// Aggregates numbers to one: the last, the mean, the sum. For single values, gauges, legends and
// tables.
type Numbers = readonly number[];

const sum = (all: Numbers): number => all.reduce((total, each) => total + each, 0);
const mean = (all: Numbers): number => sum(all) / all.length;
const first = (all: Numbers): number => all[0] ?? NaN;
const last = (all: Numbers): number => all.at(-1) ?? NaN;
const least = (all: Numbers): number => all.reduce((a, b) => Math.min(a, b), Infinity);
const most = (all: Numbers): number => all.reduce((a, b) => Math.max(a, b), -Infinity);

function variance(all: Numbers): number {
  const middle = mean(all);
  return mean(all.map((each) => (each - middle) ** 2));
}

function median(all: Numbers): number {
  const sorted = all.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? NaN) + upper) / 2;
}

/** The increase of a counter: a decrease is a reset. */
function increase(all: Numbers): number {
  return all.reduce((total, each, i) => {
    const before = all[i - 1];
    if (before === undefined) return total;
    return total + (each >= before ? each - before : each);
  }, 0);
}

/** Functions of at least one number. */
const CALCS = {
  last,
  first,
  min: least,
  max: most,
  mean,
  median,
  sum,
  count: (all: Numbers) => all.length,
  range: (all: Numbers) => most(all) - least(all),
  difference: (all: Numbers) => last(all) - first(all),
  increase,
  'percent-change': (all: Numbers) => ((last(all) - first(all)) / first(all)) * 100,
  'positive-min': (all: Numbers) => least(all.filter((each) => each > 0)),
  deviation: (all: Numbers) => Math.sqrt(variance(all)),
  variance,
  distinct: (all: Numbers) => new Set(all).size,
  changes: (all: Numbers) => all.filter((each, i) => i > 0 && each !== all[i - 1]).length,
} as const satisfies Readonly<Record<string, (all: Numbers) => number>>;

export type Calc = keyof typeof CALCS;

export const isCalc = (value: unknown): value is Calc =>
  typeof value === 'string' && Object.hasOwn(CALCS, value);

export const CALC_NAMES: readonly Calc[] = Object.keys(CALCS).filter(isCalc);

/** NaN without numbers. */
export function calculated(calc: Calc, numbers: Numbers): number {
  return numbers.length === 0 ? NaN : CALCS[calc](numbers);
}
