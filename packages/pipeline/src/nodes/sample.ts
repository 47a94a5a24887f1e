// sample: keeps every n-th point, or the points at multiples of a duration.
import { parameter } from '../evaluate/parameter.ts';
import { defineNode } from '../node-definition.ts';
import { ArgumentFailure } from '../evaluate/failure.ts';
import { scriptTypeName } from '../evaluate/hints.ts';

/** Exactly one is not zero, unless the script is refused at start. */
export type SampleOptions = { readonly count: bigint; readonly everyNanos: bigint };

const EXAMPLES = 'write |sample(10) for each tenth point, |sample(10s) for one every 10 s';

export const sampleNode = defineNode<SampleOptions>({
  type: 'sample',
  label: 'sample',
  className: 'SampleNode',
  category: 'transformation',
  summary: 'keeps every n-th point, or the points at multiples of a duration',
  wants: 'any',
  provides: 'same',
  parameters: [parameter('rate', 'any')],
  create: ({ values: [rate] }) => {
    switch (rate?.kind) {
      case 'integer':
        return { count: rate.value, everyNanos: 0n };
      case 'duration':
        return { count: 0n, everyNanos: rate.nanos };
      default:
        throw new ArgumentFailure('must pass int64 or duration to new sample node', {
          found: rate === undefined ? undefined : scriptTypeName(rate),
          expected: ['int', 'duration'],
          hint: EXAMPLES,
        });
    }
  },
  properties: [],
  checkStart: ({ count, everyNanos }) =>
    count === 0n && everyNanos === 0n
      ? [
          {
            text: 'invalid sample rate: must be positive integer or duration',
            found: '0',
            expected: ['int', 'duration'],
            hint: EXAMPLES,
          },
        ]
      : [],
});
