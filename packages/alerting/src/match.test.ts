// Match expressions: which events they accept, and which expressions are refused at definition.
import { expect, test } from 'vitest';
import type { TopicEvent } from './event.ts';
import { compileMatch } from './match.ts';

const CONTEXT = { now: () => 1_704_110_400_000_000_000n, random: () => 0.5 };

const EVENT: TopicEvent = {
  id: 'e',
  message: '',
  details: '',
  time: 1_704_067_200_000_000_000n,
  durationNanos: 90_000_000_000n,
  level: 'WARNING',
  previousLevel: 'OK',
  isRecoverable: true,
  topic: 't',
  hops: 0,
  data: [],
  context: {
    name: 'cpu',
    taskName: 'task',
    group: 'h=a',
    category: '',
    tags: { h: 'a', n: '3', time: 'x' },
    fields: {},
  },
};

test.each([
  ['', true],
  ['level() >= WARNING AND changed()', true],
  ['level() == CRITICAL', false],
  ["name() == 'cpu' AND taskName() =~ /^ta/", true],
  ['alertDuration() > 1m', true],
  ['strToUpper("h") == \'A\'', true],
  ['int("n") > 2', true],
  ['if(changed(), TRUE, FALSE)', true],
  ['hour(now()) >= 0', true],
  ['unixNano("time") == 1704067200000000000', true],
  ['rand(10) < 10', true],
  ["regexReplace(/a/, \"h\", 'b') == 'b'", true],
  ['isPresent("zz") AND "zz" == \'b\'', false],
  ['!isPresent("zz") OR "zz" == \'b\'', true],
  ['float("n") / 2.0 > 1.4', true],
  ['duration(int("n"), 1s) < 4s', true],
  ['"h" == \'a\' OR "zz" == \'a\'', true],
])('%s is %s', (text, expected) => {
  expect(compileMatch(text, CONTEXT)(EVENT)).toBe(expected);
});

test('stateful functions count the events that a handler sees', () => {
  const match = compileMatch('count() % 2 == 0', CONTEXT);

  expect([match(EVENT), match(EVENT), match(EVENT), match(EVENT)]).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

test.each([
  ['level() >', 'parser: unexpected EOF'],
  ['level() == LOUD', 'unknown identifier "LOUD"'],
  ['lvel() > 3', 'undefined function: "lvel"'],
  ['level()', 'the result is int, where boolean is needed'],
  ['"h"', 'the result is string, where boolean is needed'],
  ['"h" > 3', 'mismatched type to binary operator. got string > int'],
  ['sigma("h") > 1.0', 'no signature of sigma takes (string)'],
  ['level() > OK AND changed(1)', 'no signature of changed takes (int)'],
  ['level() AND TRUE', 'invalid logical operator AND for type int'],
])('%s is refused', (text, reason) => {
  expect(() => compileMatch(text, CONTEXT)).toThrow(reason);
});

test('an event that lacks a tag is not compared', () => {
  expect(() => compileMatch('"zz" == \'a\'', CONTEXT)(EVENT)).toThrow('"zz" is missing value');
});
