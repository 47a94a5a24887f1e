// Arbitrary texts for parsers of the script language: recorded and composed scripts, mutated in
// many ways, and plain noise.
import fc from 'fast-check';
import { composedScript } from './composed-scripts.ts';
import { recordedScripts } from './recorded-engine-cases.ts';

/** SOAK_SCRIPTS=100000 makes the long run. */
export const SCRIPT_RUNS = Number(process.env['SOAK_SCRIPTS'] ?? 1_000);
export const SCRIPT_TIMEOUT_MS = 20_000 + SCRIPT_RUNS * 20;

const FRAGMENTS = [
  ...'()[]|.@,=*+-/%!<>"\'',
  "'''",
  '// comment\n',
  '\n\n',
  'lambda:',
  'lambda: ',
  'var x = ',
  'var y float',
  'dbrp "a"."b"',
  'AND',
  'OR',
  'TRUE',
  '==',
  '=~ /a.b/',
  '10s',
  '0777',
  '1.5',
  '"ref"',
  'stream',
  '|from()',
  '\\',
  '\u00e9\ud83d\ude00',
  '\ufeff',
];

const wholeScript = fc.oneof(fc.constantFrom(...recordedScripts), composedScript);

/** A script with pieces removed, repeated, replaced or mixed with another one. */
const mutated = fc
  .tuple(
    wholeScript,
    wholeScript,
    fc.array(
      fc.record({
        kind: fc.constantFrom('remove', 'repeat', 'insert', 'splice'),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat({ max: 30 }),
        fragment: fc.constantFrom(...FRAGMENTS),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  )
  .map(([script, other, steps]) => {
    let text = script;
    for (const { kind, at, length, fragment } of steps) {
      const index = Math.floor(at * text.length);
      const piece = text.slice(index, index + length);
      const rest = kind === 'remove' ? text.slice(index + length) : text.slice(index);
      const inserted = {
        remove: '',
        repeat: piece,
        insert: fragment,
        splice: other.slice(Math.floor(at * other.length)).slice(0, length * 3),
      }[kind];
      text = text.slice(0, index) + inserted + rest;
    }
    return text;
  });

const tokens = fc
  .array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 })
  .map((list) => list.join(' '));

export const anyScript = fc.oneof(
  { weight: 2, arbitrary: mutated },
  { weight: 2, arbitrary: composedScript },
  tokens,
  fc.string({ unit: 'binary', maxLength: 80 }),
);
