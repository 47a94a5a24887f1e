// sample: keeps every n-th point, or the points at multiples of a duration.
import { parameter } from '../evaluate/parameter.ts';
import type { Arguments } from '../evaluate/parameter.ts';
import { ArgumentFailure } from '../evaluate/failure.ts';
import { scriptTypeName } from '../evaluate/hints.ts';
import { defineNode } from '../definition/node-definition.ts';
import { argument } from '../definition/option.ts';
import { PER_GROUP } from '../definition/split.ts';

export type SampleRate =
  | { readonly kind: 'count'; readonly count: bigint }
  | { readonly kind: 'every'; readonly nanos: bigint };

const EXAMPLES = 'write |sample(10) for each tenth point, |sample(10s) for one every 10 s';

export const sampleNode = defineNode({
  type: 'sample',
  label: 'sample',
  className: 'SampleNode',
  category: 'transformation',
  summary: 'keeps every n-th point, or the points at multiples of a duration',
  wants: 'any',
  provides: 'same',
  split: PER_GROUP,
  options: {
    rate: argument<SampleRate>({ kind: 'count', count: 0n }, parameter('rate', 'any'), rateOf),
  },
  checkStart: ({ rate }) =>
    (rate.kind === 'count' ? rate.count : rate.nanos) === 0n
      ? [
          {
            text: 'invalid sample rate: must be positive integer or duration',
            found: '0',
            expected: ['int', 'duration'],
            hint: EXAMPLES,
          },
        ]
      : [],
  effects: () => ({ keepsNames: true }),
});

function rateOf({ values: [rate] }: Arguments): SampleRate {
  switch (rate?.kind) {
    case 'integer':
      return { kind: 'count', count: rate.value };
    case 'duration':
      return { kind: 'every', nanos: rate.nanos };
    default:
      throw new ArgumentFailure('must pass int64 or duration to new sample node', {
        found: rate === undefined ? undefined : scriptTypeName(rate),
        expected: ['int', 'duration'],
        hint: EXAMPLES,
      });
  }
}
