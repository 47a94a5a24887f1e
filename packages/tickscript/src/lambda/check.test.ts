// Static types of lambdas: what is wrong in every point is found before the first one.
import { describe, expect, test } from 'vitest';
import {
  binaryResultType,
  binaryTypeError,
  callResultType,
  callTypeError,
  checkLambda,
  LAMBDA_FUNCTIONS,
  parseLambda,
  unaryResultType,
} from '../index.ts';
import type { LambdaType } from '../index.ts';

function check(text: string): ReturnType<typeof checkLambda> {
  const { expression, error } = parseLambda(text);
  expect(error).toBeUndefined();
  return checkLambda(expression!);
}

test.each([
  ['1 + 2', 'int'],
  ['1.0 / 2.0', 'float'],
  ["'a' + 'b'", 'string'],
  ['1s * 2', 'duration'],
  ['2.0 * 1s', 'duration'],
  ['1h / 1m', 'int'],
  ['1 < 2.0', 'boolean'],
  ['-1s', 'duration'],
  ['!TRUE', 'boolean'],
  ['"time"', 'time'],
  ['"a" > 1', 'boolean'],
  ['!"a"', 'boolean'],
  ['"a" + 1', undefined],
  ['-"a"', undefined],
  ['abs(1)', undefined],
  ['"time" - "time"', undefined],
] as const)('%s is %s', (text, type) => {
  expect(check(text)).toEqual({ type, problems: [] });
});

test.each([
  [
    "'x' + 1",
    'mismatched type to binary operator. got string + int. see bool(), int(), float(), string(), duration()',
  ],
  [
    '\'x\' > 1 AND "a" > 0',
    'Failed to handle left node: mismatched type to binary operator. got string > int. see bool(), int(), float(), string(), duration()',
  ],
  [
    "\"a\" > 0 AND ('x' - 'y' == 1)",
    'Failed to handle right node: Failed to handle left node: invalid math operator - for type string',
  ],
  ['TRUE < FALSE', 'invalid comparison operator < for type boolean'],
  ['1 AND TRUE', 'invalid logical operator AND for type int'],
  ['1.0 % 2.0', 'invalid math operator % for type float'],
  [
    'float(1 + 1.0)',
    'Failed to handle 1 argument: mismatched type to binary operator. got int + float. see bool(), int(), float(), string(), duration()',
  ],
  [
    '!(1 + 1.0)',
    'Failed to handle node: mismatched type to binary operator. got int + float. see bool(), int(), float(), string(), duration()',
  ],
  ["-'a'", 'invalid unary operator - for type string'],
])('%s is refused', (text, error) => {
  expect(check(text).problems.map((each) => each.text)).toEqual([error]);
});

test.each([
  ["'x' + 1", '1', 'int', ['string'], 'convert it: string(1)'],
  ["'x' * 2", "'x'", 'string', ['float', 'int', 'duration'], "convert it: float('x')"],
  ['"a" > 0 AND !1', '1', 'int', ['boolean'], 'convert it: bool(1)'],
  ["'x' =~ 'y'", "'y'", 'string', ['regex'], 'write the pattern between slashes: /pattern/'],
  ['1h + 5', '5', 'int', ['duration'], undefined],
  ["abs(-'a')", "'a'", 'string', ['int', 'float', 'duration'], "convert it: float('a')"],
  ["'x' > 1 + 1", '1 + 1', 'int', ['string'], 'convert it: string(1 + 1)'],
] as const)('%s: the operand %s is found', (text, operand, found, expected, hint) => {
  const { problems } = check(text);

  expect(problems).toHaveLength(1);
  const [problem] = problems;
  expect(text.slice(problem?.span.start, problem?.span.end)).toBe(operand);
  expect(problem).toMatchObject({ found, hint });
  expect([...(problem?.expected ?? [])].sort()).toEqual([...expected].sort());
});

test('several operands that do not fit are found at once, in the order of evaluation', () => {
  const text = '(\'a\' + 1 == "b") AND !(2 + 2.0) AND "c" > -\'d\'';

  const { type, problems } = check(text);

  expect(type).toBe('boolean');
  expect(problems.map(({ span }) => text.slice(span.start, span.end))).toEqual(['1', '2.0', "'d'"]);
});

describe('operators', () => {
  const types: readonly LambdaType[] = [
    'int',
    'float',
    'string',
    'boolean',
    'regex',
    'duration',
    'time',
    'missing',
  ];

  test('combinations that are not in the table have a text', () => {
    for (const left of types) {
      for (const right of types) {
        if (binaryResultType('+', left, right) !== undefined) continue;
        expect(binaryTypeError('+', left, right)).toMatch(
          /^(invalid math operator|mismatched type)/,
        );
      }
    }
  });

  test('nothing can be done with a time or a missing value', () => {
    for (const type of ['time', 'missing'] as const) {
      expect(binaryResultType('==', type, type)).toBeUndefined();
      expect(unaryResultType('-', type)).toBeUndefined();
      expect(unaryResultType('!', type)).toBeUndefined();
    }
  });
});

describe('functions', () => {
  const duration = LAMBDA_FUNCTIONS.get('duration')!;

  test('have the result of the signature that fits', () => {
    expect(callResultType(duration, ['int', 'duration'])).toBe('duration');
    expect(callResultType(duration, ['int'])).toBeUndefined();
    expect(callResultType(LAMBDA_FUNCTIONS.get('isPresent')!, ['missing'])).toBe('boolean');
  });

  test('list their signatures sorted when none fits', () => {
    expect(callTypeError(duration, [{ text: '"i"', type: 'int' }])).toBe(
      'Cannot call function "duration" with args ("i": int), available signatures are [(duration), (float,duration), (int,duration), (string,duration)].',
    );
  });

  test('keep state only where the name says so', () => {
    const stateful = [...LAMBDA_FUNCTIONS.values()].filter((each) => each.isStateful);
    expect(stateful.map((each) => each.name)).toEqual(['count', 'sigma', 'spread', 'rand']);
  });
});
