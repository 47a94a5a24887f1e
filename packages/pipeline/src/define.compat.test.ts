// Recorded definitions: accepted or refused with the recorded text, at definition or at start.
import { describe, expect, test } from 'vitest';
import { engineCases, namedCases } from '../../../tests/compat/recorded-engine-cases.ts';
import type { EngineCase } from '../../../tests/compat/recorded-engine-cases.ts';
import { buildPipeline, definitionErrorText } from './index.ts';

// Found by looking outside the script: configuration, files, templates of texts, schedules.
const OUTSIDE = [
  /^(must provide TICKscript|must specify dbrp|cannot specify dbrp)/,
  /^template: /,
  /^failed to create Alerta handler: template/,
  /^failed to update sideload cache/,
  /^endpoint '.*' does not exist$/,
  /^failed to get InfluxDB client/,
  /^query1: failed to get InfluxDB client/,
  /^missing field\(s\)$/,
];

// Refused at the same moment with a text of our own, and why.
const OTHER_WORDS = new Map([
  // Later versions have the property; only unknown words are refused.
  ['alert/error opsGenie2 bad recovery', "recovery action must be 'notes' or 'close', got x"],
  // Our parser also knows EXPLAIN and lists it.
  ['batch/error not influxql', 'failed to parse InfluxQL query: found SELEKT, expected SELECT'],
]);

/** The answer of a service, as far as the script decides it. */
function outcome(each: EngineCase): { phase?: string; error?: string } {
  const result = buildPipeline(each.script ?? '');
  if (result.error !== undefined) {
    return { phase: 'define', error: definitionErrorText(result.error) };
  }
  const dbrps = (each.dbrps ?? [{ db: 'd', rp: 'r' }]).map(({ db, rp }) => ({
    database: db,
    retentionPolicy: rp,
  }));
  const error = each.enable === true ? result.checkStart?.({ dbrps })[0]?.message : undefined;
  return error === undefined ? {} : { phase: 'start', error };
}

describe('recorded definitions', () => {
  test.each(namedCases((each) => each.type === 'define'))('%s', (name, each) => {
    if (OUTSIDE.some((pattern) => pattern.test(each.error ?? ''))) return;

    const actual = outcome(each);

    const words = OTHER_WORDS.get(name);
    if (words !== undefined) {
      expect(actual).toEqual({ phase: each.phase, error: expect.stringContaining(words) });
      return;
    }
    const expected = each.error === undefined ? {} : { phase: each.phase, error: each.error };
    expect(actual).toEqual(expected);
  });
});

test('scripts of all other recorded tasks are accepted', () => {
  for (const each of engineCases) {
    if (each.type === 'define' || each.script === undefined || each.error !== undefined) continue;
    if (each.vars !== undefined) continue;
    const { error } = buildPipeline(each.script);
    expect(error, `${each.group}/${each.name}`).toBeUndefined();
  }
});
