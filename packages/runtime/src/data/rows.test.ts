// JSON of texts is what JSON.stringify gives, with the characters of HTML spelled as numbers.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonString } from './rows.ts';

test('any text is quoted as JSON, with < > & and the line separators escaped', () => {
  const special = fc.constantFrom(
    '"',
    '\\',
    '<',
    '>',
    '&',
    '\n',
    '\u007f',
    '\u2028',
    '\ud800',
    'ü',
  );
  const text = fc
    .array(fc.oneof(fc.string({ unit: 'binary' }), special))
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, (each) => {
      const json = jsonString(each);

      expect(JSON.parse(json)).toBe(each);
      expect(json).not.toMatch(/[<>&\u2028\u2029]/);
      expect(json.replaceAll(/\\u00(?:3c|3e|26)|\\u202[89]/g, '')).toBe(
        JSON.stringify(each.replaceAll(/[<>&\u2028\u2029]/g, '')),
      );
    }),
  );
});
