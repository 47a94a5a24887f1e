// String and regular-expression functions of lambdas. Offsets and lengths are in bytes of UTF-8.
import { EvaluationError } from './errors.ts';
import type { FunctionRow } from './function.ts';
import { single } from './function.ts';
import type { Regex } from './regex.ts';
import { byteLength, byteOffset, byteSlice, isAscii } from './text.ts';

const count = (text: string, part: string): bigint => {
  if (part === '') return BigInt([...text].length + 1);
  return BigInt(text.split(part).length - 1);
};

function indexOfAny(text: string, chars: string): number {
  const set = new Set(chars);
  let offset = 0;
  for (const char of text) {
    if (set.has(char)) return offset;
    offset += char.length;
  }
  return -1;
}

function lastIndexOfAny(text: string, chars: string): number {
  const set = new Set(chars);
  let offset = 0;
  let last = -1;
  for (const char of text) {
    if (set.has(char)) last = offset;
    offset += char.length;
  }
  return last;
}

function trimLeft(text: string, cutset: string): string {
  const set = new Set(cutset);
  const chars = [...text];
  let i = 0;
  while (i < chars.length && set.has(chars[i] ?? '')) i++;
  return chars.slice(i).join('');
}

function trimRight(text: string, cutset: string): string {
  const set = new Set(cutset);
  const chars = [...text];
  let end = chars.length;
  while (end > 0 && set.has(chars[end - 1] ?? '')) end--;
  return chars.slice(0, end).join('');
}

function replace(text: string, part: string, by: string, limit: bigint): string {
  if (limit === 0n || part === by) return text;
  const pieces = part === '' ? ['', ...text] : text.split(part);
  // There is an empty part between runes, and at both ends.
  if (part === '') pieces.push('');
  const replacementMax = limit < 0n ? pieces.length - 1 : Number(limit);
  let out = pieces[0] ?? '';
  for (let i = 1; i < pieces.length; i++) {
    out += (i <= replacementMax ? by : part) + (pieces[i] ?? '');
  }
  return out;
}

function substring(text: string, start: bigint, stop: bigint): string {
  if (start < 0n) throw new EvaluationError(`found negative index for strSubstring: ${start}`);
  if (stop < 0n) throw new EvaluationError(`found negative index for strSubstring: ${stop}`);
  if (stop >= BigInt(byteLength(text))) {
    throw new EvaluationError(`stop index too large for string in strSubstring: ${stop}`);
  }
  if (start > stop) {
    throw new EvaluationError(`start index is after stop index in strSubstring: ${start} ${stop}`);
  }
  return byteSlice(text, Number(start), Number(stop));
}

/** Changes the case of single runes: `ß` has no single capital and stays. */
function mapRunes(text: string, map: (rune: string) => string): string {
  if (isAscii(text)) return map(text);
  return Array.from(text, (rune) => {
    const mapped = map(rune);
    return [...mapped].length === 1 ? mapped : rune;
  }).join('');
}

const WHITE_SPACE = /^[\s\u0085]+|[\s\u0085]+$/gu;

export const STRING_FUNCTIONS: readonly FunctionRow[] = [
  single('strContains', ['string', 'string'], 'boolean', (s: string, part: string) =>
    s.includes(part),
  ),
  single(
    'strContainsAny',
    ['string', 'string'],
    'boolean',
    (s: string, chars: string) => indexOfAny(s, chars) >= 0,
  ),
  single('strCount', ['string', 'string'], 'int', count),
  single('strHasPrefix', ['string', 'string'], 'boolean', (s: string, part: string) =>
    s.startsWith(part),
  ),
  single('strHasSuffix', ['string', 'string'], 'boolean', (s: string, part: string) =>
    s.endsWith(part),
  ),
  single('strIndex', ['string', 'string'], 'int', (s: string, part: string) =>
    BigInt(byteOffset(s, s.indexOf(part))),
  ),
  single('strIndexAny', ['string', 'string'], 'int', (s: string, chars: string) =>
    BigInt(byteOffset(s, indexOfAny(s, chars))),
  ),
  single('strLastIndex', ['string', 'string'], 'int', (s: string, part: string) =>
    BigInt(byteOffset(s, s.lastIndexOf(part))),
  ),
  single('strLastIndexAny', ['string', 'string'], 'int', (s: string, chars: string) =>
    BigInt(byteOffset(s, lastIndexOfAny(s, chars))),
  ),
  single('strLength', ['string'], 'int', (s: string) => BigInt(byteLength(s))),
  single('strReplace', ['string', 'string', 'string', 'int'], 'string', replace),
  single('strSubstring', ['string', 'int', 'int'], 'string', substring),
  single('strToLower', ['string'], 'string', (s: string) => mapRunes(s, (c) => c.toLowerCase())),
  single('strToUpper', ['string'], 'string', (s: string) => mapRunes(s, (c) => c.toUpperCase())),
  single('strTrim', ['string', 'string'], 'string', (s: string, set: string) =>
    trimRight(trimLeft(s, set), set),
  ),
  single('strTrimLeft', ['string', 'string'], 'string', trimLeft),
  single('strTrimRight', ['string', 'string'], 'string', trimRight),
  single('strTrimPrefix', ['string', 'string'], 'string', (s: string, part: string) =>
    s.startsWith(part) ? s.slice(part.length) : s,
  ),
  single('strTrimSuffix', ['string', 'string'], 'string', (s: string, part: string) =>
    part !== '' && s.endsWith(part) ? s.slice(0, -part.length) : s,
  ),
  single('strTrimSpace', ['string'], 'string', (s: string) => s.replace(WHITE_SPACE, '')),
  single(
    'regexReplace',
    ['regex', 'string', 'string'],
    'string',
    (regex: Regex, s: string, by: string) => regex.replaceAll(s, by),
  ),
];
