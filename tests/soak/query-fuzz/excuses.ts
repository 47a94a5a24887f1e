// Differences that are wanted: defects of the reference server which are not copied. Each is named in
// docs/compat/differences.md or in the reference pages.

export type Excuse = { readonly reason: string; applies(text: string, reference: string): boolean };

export const EXCUSES: readonly Excuse[] = [
  {
    reason: 'the reference server can not write an infinite number as JSON',
    applies: (_text, reference) => reference.includes('json: unsupported value'),
  },
  {
    reason: 'abs() of a negative integer stays negative there',
    applies: (text) => /\babs\(/.test(text),
  },
];

/** Why a difference is not counted, `undefined` when it is. */
export function excuseFor(text: string, reference: string): string | undefined {
  return EXCUSES.find((excuse) => excuse.applies(text, reference))?.reason;
}
