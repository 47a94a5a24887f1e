import { expect, test } from 'vitest';

import { OutcomeCollector } from './outcome-collector.ts';

/**
 * The kernel's outcome for a part of a body in which `refused` lines were refused and the first
 * `listed` are listed.
 */
function part(refused: number, listed: number) {
  return {
    tables: [],
    firstSeriesId: 0,
    newSeriesCount: 0,
    newFields: [],
    pointsWritten: 1,
    valuesWritten: 2,
    parseErrors: [],
    parseErrorCount: refused - 1,
    dropped: { count: 1, reason: 'too old' },
    rejectedLines: Array.from({ length: listed }, (_, i) => ({
      lineNumber: i + 1,
      text: 'x',
      reason: 'missing fields',
    })),
    consumedBytes: 0,
  };
}

test('lines beyond the list are counted over all parts, and nothing is said when there are none', () => {
  const cut = new OutcomeCollector({ isDetailed: true });
  cut.add(part(12, 10));
  cut.add(part(15, 10));
  expect([cut.outcome.rejectedLines?.length, cut.outcome.unlistedCount]).toEqual([20, 7]);
  expect(cut.outcome).toMatchObject({ pointsWritten: 2, valuesWritten: 4, dropped: { count: 2 } });

  const whole = new OutcomeCollector({ isDetailed: true });
  whole.add(part(10, 10));
  expect('unlistedCount' in whole.outcome).toBe(false);

  const brief = new OutcomeCollector({ isDetailed: false });
  brief.add(part(10, 0));
  expect('unlistedCount' in brief.outcome).toBe(false);
});
