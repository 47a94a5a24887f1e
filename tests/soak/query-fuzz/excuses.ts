// Differences that are wanted: defects of the reference server which are not copied. Each is named in
// docs/compat/differences.md or in the reference pages.
import type { Answer } from './server.ts';

export type Compared = {
  readonly text: string;
  readonly reference: Answer;
  readonly candidate: Answer;
  /** The first difference, `$.path: one against the other`. */
  readonly what: string | undefined;
};

type Excuse = { readonly reason: string; readonly applies: (compared: Compared) => boolean };

const EXCUSES: readonly Excuse[] = [
  {
    reason: 'the reference server can not write an infinite number as JSON',
    applies: ({ reference }) => reference.body.includes('json: unsupported value'),
  },
  {
    reason: 'abs() of a negative integer stays negative there',
    applies: ({ text }) => /\babs\(/.test(text),
  },
  {
    reason:
      'the reference server overlooks type errors in columns of a subquery that nothing reads',
    applies: ({ text, reference, candidate }) =>
      text.includes('(SELECT') &&
      !reference.body.includes('"error"') &&
      candidate.body.includes('"error":"type error: '),
  },
];

/** Why a difference is not counted, `undefined` when it is. */
export function excuseFor(compared: Compared): string | undefined {
  return EXCUSES.find((excuse) => excuse.applies(compared))?.reason;
}
