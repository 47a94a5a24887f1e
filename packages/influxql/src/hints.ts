// Hints: what to write instead, for common mistakes in this language.
import { didYouMean } from '@tidemark/core';

import { formatIdentifier } from './quote.ts';
import type { Token } from './token.ts';

const WRONG_WORDS: Readonly<Record<string, string>> = {
  NOT: 'there is no NOT; use !=, !~ or the opposite comparison',
  LIKE: 'there is no LIKE; use =~ with a regular expression, for example host =~ /^web/',
  BETWEEN: 'there is no BETWEEN; use >= and <=',
  IS: "there is no IS NULL; a missing tag is the empty string: host = ''",
  HAVING: 'there is no HAVING; put the query into a subquery and filter that',
  JOIN: 'there is no JOIN; name several measurements in FROM',
  UNION: 'there is no UNION; name several measurements in FROM',
  IN: 'IN is only known in WITH KEY IN (…); use OR or a regular expression',
};

/** The expected word that is closest to the one that was written. */
function meantWord(token: Token, expected: readonly string[]): string | undefined {
  if (token.kind !== 'word' && token.kind !== 'identifier') return undefined;
  const words = expected.filter((word) => /^[A-Z]+$/.test(word));
  return didYouMean(token.text, words);
}

/** A hint for `found token, expected …`, `undefined` when it would not add to the message. */
export function hintFor(token: Token, expected: readonly string[]): string | undefined {
  const wantsName = expected.includes('identifier');
  if (token.kind === 'word' && wantsName && token.text !== 'FROM') {
    return `${token.text} is a keyword; as a name write ${formatIdentifier(token.text.toLowerCase())}`;
  }
  if (token.kind === 'string' && wantsName && expected.length === 1) {
    return `names are written in double quotes: "${token.text}"`;
  }
  if (token.kind === 'bad-string') return 'close the quote';
  if (token.kind === 'bad-escape') return 'only \\n, \\\\, \\" and \\\' can be escaped';
  if (token.text === '=' && wantsName) return 'equality is a single =';
  if (token.kind === 'identifier' && expected.includes('string') && expected.length === 1) {
    return `strings are written in single quotes: '${token.text}'`;
  }
  return WRONG_WORDS[token.text.toUpperCase()] ?? meantWord(token, expected);
}
