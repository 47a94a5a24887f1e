import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { Lexer } from './lexer.ts';
import { redactPasswords } from './redact.ts';
import { tokenize } from './tokenize.ts';

function kinds(text: string): readonly string[] {
  const lexer = new Lexer(text);
  const found: string[] = [];
  for (;;) {
    const token = lexer.next();
    if (token.kind === 'end') return found;
    found.push(`${token.kind} ${token.text}`);
  }
}

describe('tokens', () => {
  test.each([
    [
      'select "select" sélect',
      ['word SELECT', 'identifier select', 'identifier s', 'illegal é', 'identifier lect'],
    ],
    [
      '1 1.5 .5 1. 1h30m 5x 1e3 3µ',
      [
        'integer 1',
        'number 1.5',
        'number .5',
        'number 1',
        'duration 1h30m',
        'duration 5x',
        'duration 1e3',
        'duration 3µ',
      ],
    ],
    ["'it\\'s' 'a\\n' ''", ["string it's", 'string a\n', 'string ']],
    [
      'a<>b a!=b a=~b :: : <=',
      [
        'identifier a',
        'symbol !=',
        'identifier b',
        'identifier a',
        'symbol !=',
        'identifier b',
        'identifier a',
        'symbol =~',
        'identifier b',
        'symbol ::',
        'symbol :',
        'symbol <=',
      ],
    ],
    ['$a $"b c" $1 $', ['parameter a', 'parameter b c', 'parameter 1', 'parameter ']],
    ['a -- b\nc /* d */ e', ['identifier a', 'identifier c', 'identifier e']],
    ["'open", ['bad-string open']],
    ["'a\\qb'", ['bad-escape \\q', 'identifier b', 'bad-string ']],
    ['/* open', ['illegal ']],
    ['😀', ['illegal 😀']],
  ])('%s', (text, expected) => {
    expect(kinds(text)).toEqual(expected);
  });

  test('a regular expression unescapes the slash and nothing else', () => {
    const token = new Lexer('/a\\/b\\d\\\\c/ x').regexAt(0);

    expect(token).toMatchObject({ kind: 'regex', text: 'a/b\\d\\\\c', start: 0, end: 11 });
  });
});

describe('tokens for editors', () => {
  test('tell functions, regular expressions and divisions apart', () => {
    const text = 'SELECT mean(/a b/)/2 FROM m WHERE t =~ /x/ -- end';

    const shown = tokenize(text)
      .filter((token) => token.class !== 'blank')
      .map((token) => `${token.class}:${text.slice(token.start, token.end)}`);

    expect(shown).toEqual([
      'keyword:SELECT',
      'function:mean',
      'punctuation:(',
      'regex:/a b/',
      'punctuation:)',
      'operator:/',
      'number:2',
      'keyword:FROM',
      'identifier:m',
      'keyword:WHERE',
      'identifier:t',
      'operator:=~',
      'regex:/x/',
      'comment:-- end',
    ]);
  });

  test('cover every text without gaps', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let end = 0;
        for (const token of tokenize(text)) {
          expect(token.start).toBe(end);
          expect(token.end).toBeGreaterThan(token.start);
          end = token.end;
        }
        expect(end).toBe(text.length);
      }),
    );
  });
});

describe('redacting passwords', () => {
  test.each([
    [
      "CREATE USER u WITH PASSWORD 'se\\'cret' WITH ALL PRIVILEGES",
      'CREATE USER u WITH PASSWORD [REDACTED] WITH ALL PRIVILEGES',
    ],
    [
      'set password for "u" = \'secret\'; SHOW USERS',
      'set password for "u" = [REDACTED]; SHOW USERS',
    ],
    ['CREATE USER u WITH PASSWORD secret', 'CREATE USER u WITH PASSWORD [REDACTED]'],
    ['CREATE USER u WITH PASSWORD "secret', 'CREATE USER u WITH PASSWORD [REDACTED]'],
    ["CREATE USER u WITH PASSWORD 'sec ret", 'CREATE USER u WITH PASSWORD [REDACTED]'],
    ["CREATE USER u WITH PASSWORD 'sec\\qret'", 'CREATE USER u WITH PASSWORD [REDACTED]'],
    ["SET PASSWORD FOR u 'secret'", 'SET PASSWORD FOR u [REDACTED]'],
    ['SET PASSWORD FOR u = s3!cret-x; SHOW USERS', 'SET PASSWORD FOR u = [REDACTED]; SHOW USERS'],
    ['CREATE USER u WITH PASSWORD', 'CREATE USER u WITH PASSWORD'],
    ["SELECT v FROM m WHERE a = 'password secret'", "SELECT v FROM m WHERE a = 'password secret'"],
  ])('%s', (text, expected) => {
    expect(redactPasswords(text)).toBe(expected);
  });
});
