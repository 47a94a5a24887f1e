// Signatures of the functions of lambda expressions, as data for type checks, completion and the
// reference page. The runtime implements the functions.
import type { LambdaType } from './types.ts';

export type LambdaSignature = {
  readonly arguments: readonly LambdaType[];
  readonly result: LambdaType;
};

export type LambdaFunction = {
  readonly name: string;
  readonly signatures: readonly LambdaSignature[];
  /** Keeps state from call to call: all calls of one name inside one lambda share it. */
  readonly isStateful: boolean;
  readonly category:
    | 'conversion'
    | 'math'
    | 'string'
    | 'regex'
    | 'time'
    | 'state'
    | 'other'
    | 'match';
  readonly summary: string;
};

type Category = LambdaFunction['category'];

const LETTERS: Readonly<Record<string, LambdaType>> = {
  F: 'float',
  I: 'int',
  S: 'string',
  B: 'boolean',
  D: 'duration',
  T: 'time',
  R: 'regex',
  M: 'missing',
};

/** `name arguments>result …`, e.g. `duration D>D ID>D`; one letter per type. */
function row(category: Category, text: string, summary: string): LambdaFunction {
  const [name = '', ...signatures] = text.split(' ');
  return {
    name,
    category,
    summary,
    isStateful: category === 'state',
    signatures: signatures.map((signature) => {
      const [parameters = '', result = ''] = signature.split('>');
      return { arguments: [...parameters].map(typeOfLetter), result: typeOfLetter(result) };
    }),
  };
}

function typeOfLetter(letter: string): LambdaType {
  const type = LETTERS[letter];
  if (type === undefined) throw new TypeError(`no type has the letter ${letter}`);
  return type;
}

const CONVERSIONS: readonly LambdaFunction[] = [
  row(
    'conversion',
    'bool B>B S>B I>B F>B',
    'true or false from text (`true`, `0`, …) or the numbers 0 and 1',
  ),
  row('conversion', 'int B>I S>I I>I F>I', 'integer; floats are cut toward zero, text is decimal'),
  row('conversion', 'float B>F S>F I>F F>F', 'float from a number, a boolean or text'),
  row('conversion', 'string B>S S>S I>S F>S D>S', 'text of a value'),
  row(
    'conversion',
    'duration D>D ID>D FD>D SD>D',
    'number of units, or text such as 1h30m, as a duration',
  ),
];

const FLOAT_FUNCTIONS: readonly (readonly [string, string])[] = [
  ['abs', 'absolute value'],
  ['acos', 'arc cosine in radians'],
  ['acosh', 'inverse hyperbolic cosine'],
  ['asin', 'arc sine in radians'],
  ['asinh', 'inverse hyperbolic sine'],
  ['atan', 'arc tangent in radians'],
  ['atanh', 'inverse hyperbolic tangent'],
  ['cbrt', 'cube root'],
  ['ceil', 'least integer not below'],
  ['cos', 'cosine of radians'],
  ['cosh', 'hyperbolic cosine'],
  ['erf', 'error function'],
  ['erfc', 'complementary error function'],
  ['exp', 'e to the power'],
  ['exp2', '2 to the power'],
  ['expm1', 'e to the power, minus 1'],
  ['floor', 'greatest integer not above'],
  ['gamma', 'gamma function'],
  ['j0', 'Bessel function of the first kind, order 0'],
  ['j1', 'Bessel function of the first kind, order 1'],
  ['log', 'natural logarithm'],
  ['log10', 'decimal logarithm'],
  ['log1p', 'natural logarithm of 1 plus the argument'],
  ['log2', 'binary logarithm'],
  ['logb', 'binary exponent'],
  ['sin', 'sine of radians'],
  ['sinh', 'hyperbolic sine'],
  ['sqrt', 'square root'],
  ['tan', 'tangent of radians'],
  ['tanh', 'hyperbolic tangent'],
  ['trunc', 'integer part'],
  ['y0', 'Bessel function of the second kind, order 0'],
  ['y1', 'Bessel function of the second kind, order 1'],
];

const MATH: readonly LambdaFunction[] = [
  ...FLOAT_FUNCTIONS.map(([name, summary]) => row('math', `${name} F>F`, summary)),
  row('math', 'atan2 FF>F', 'angle of the point (x, y), called as atan2(y, x)'),
  row('math', 'hypot FF>F', 'square root of the sum of squares'),
  row('math', 'max FF>F', 'the larger; NaN if one is NaN'),
  row('math', 'min FF>F', 'the smaller; NaN if one is NaN'),
  row('math', 'mod FF>F', 'remainder with the sign of the first'),
  row('math', 'pow FF>F', 'first to the power of second'),
  row('math', 'pow10 I>F', '10 to the power'),
  row('math', 'jn IF>F', 'Bessel function of the first kind, order n'),
  row('math', 'yn IF>F', 'Bessel function of the second kind, order n'),
];

const STRINGS: readonly LambdaFunction[] = [
  row('string', 'strContains SS>B', 'does the text contain the second'),
  row('string', 'strContainsAny SS>B', 'does the text contain one of the characters'),
  row('string', 'strCount SS>I', 'how often the second occurs'),
  row('string', 'strHasPrefix SS>B', 'does the text begin so'),
  row('string', 'strHasSuffix SS>B', 'does the text end so'),
  row('string', 'strIndex SS>I', 'byte index of the first occurrence, or -1'),
  row('string', 'strIndexAny SS>I', 'byte index of the first of the characters, or -1'),
  row('string', 'strLastIndex SS>I', 'byte index of the last occurrence, or -1'),
  row('string', 'strLastIndexAny SS>I', 'byte index of the last of the characters, or -1'),
  row('string', 'strLength S>I', 'length in bytes'),
  row('string', 'strReplace SSSI>S', 'replaces the first n occurrences; all if n is negative'),
  row('string', 'strSubstring SII>S', 'bytes from start up to stop'),
  row('string', 'strToLower S>S', 'lower case'),
  row('string', 'strToUpper S>S', 'upper case'),
  row('string', 'strTrim SS>S', 'removes the characters at both ends'),
  row('string', 'strTrimLeft SS>S', 'removes the characters at the start'),
  row('string', 'strTrimRight SS>S', 'removes the characters at the end'),
  row('string', 'strTrimPrefix SS>S', 'removes this start'),
  row('string', 'strTrimSuffix SS>S', 'removes this end'),
  row('string', 'strTrimSpace S>S', 'removes white space at both ends'),
  row('regex', 'regexReplace RSS>S', 'replaces all matches; $1 and ${name} stand for groups'),
];

const TIMES: readonly LambdaFunction[] = [
  row('time', 'unixNano T>I', 'nanoseconds since 1970'),
  row('time', 'minute T>I', '0 to 59'),
  row('time', 'hour T>I', '0 to 23'),
  row('time', 'weekday T>I', '0 (Sunday) to 6'),
  row('time', 'day T>I', '1 to 31'),
  row('time', 'month T>I', '1 to 12'),
  row('time', 'year T>I', 'the year'),
  row('time', 'now >T', 'current time of the engine'),
];

const OTHERS: readonly LambdaFunction[] = [
  row('other', 'humanBytes I>S F>S', 'bytes with a decimal unit: 5.4 kB'),
  row(
    'other',
    'if BFF>F BII>I BSS>S BBB>B BRR>R BTT>T BDD>D',
    'second if the first is true, else third; both are computed',
  ),
  row('other', 'isPresent M>B B>B S>B I>B F>B', 'is there a field or tag of this name'),
];

const STATEFUL: readonly LambdaFunction[] = [
  row('state', 'count >I', 'how many times it was evaluated'),
  row('state', 'sigma F>F', 'standard deviations from the running mean'),
  row('state', 'spread F>F', 'largest minus smallest value so far'),
  row('state', 'rand >I I>I', 'random integer, below n if given'),
];

const byName = (rows: readonly LambdaFunction[]): ReadonlyMap<string, LambdaFunction> =>
  new Map(rows.map((each) => [each.name, each]));

/** Functions of lambdas in scripts. */
export const LAMBDA_FUNCTIONS: ReadonlyMap<string, LambdaFunction> = byName([
  ...CONVERSIONS,
  ...MATH,
  ...STRINGS,
  ...TIMES,
  ...OTHERS,
  ...STATEFUL,
]);

/** Functions available only in match expressions of topic handlers. */
export const MATCH_FUNCTIONS: ReadonlyMap<string, LambdaFunction> = byName([
  row('match', 'changed >B', 'is the level another than that of the previous event'),
  row('match', 'level >I', 'level of the event: OK, INFO, WARNING or CRITICAL'),
  row('match', 'name >S', 'measurement'),
  row('match', 'taskName >S', 'task that sent the event'),
  row('match', 'alertDuration >D', 'how long the event has not been OK'),
]);

/** Result type of a call; `undefined` when no signature takes these types. */
export function callResultType(
  fn: LambdaFunction,
  types: readonly LambdaType[],
): LambdaType | undefined {
  return fn.signatures.find(
    (each) =>
      each.arguments.length === types.length &&
      each.arguments.every((type, index) => type === types[index]),
  )?.result;
}

/**
 * The recorded text for a call whose argument types fit no signature. `text` is the argument as
 * formatted.
 */
export function callTypeError(
  fn: LambdaFunction,
  list: readonly { readonly text: string; readonly type: LambdaType }[],
): string {
  const given = list.map((each) => `${each.text}: ${each.type}`).join(',');
  const available = fn.signatures
    .map((each) => `(${each.arguments.join(',')})`)
    .sort()
    .join(', ');
  return `Cannot call function "${fn.name}" with args (${given}), available signatures are [${available}].`;
}
