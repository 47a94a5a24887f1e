// Which tasks can be split, by which tags, and what keeps the groups of the others together.
import { describe, expect, test } from 'vitest';
import { buildPipeline, placeOf, splitOf } from './index.ts';

function split(script: string): string {
  const { pipeline, error } = buildPipeline(script);
  if (pipeline === undefined) throw new Error(error?.text);
  const { by, refusal } = splitOf(pipeline);
  if (by !== undefined) return `${by.isAllBut ? 'all but ' : ''}${[...by.tags].sort().join(' ')}`;
  const { node, text, properties } = refusal;
  const span = placeOf(
    { span: node.span, properties: node.calls?.properties ?? [] },
    { properties },
  );
  const [called = ''] = script.slice(span.start, span.end).split('(');
  return `${text} @ ${called}`;
}

const HOSTS = "stream|from().measurement('cpu').groupBy('host')";
const ALERT = '|window().period(10s).every(10s)|mean(\'v\')|alert().crit(lambda: "mean" > 1)';

describe('is split by', () => {
  test.each([
    ['the tags of the grouping', `${HOSTS}${ALERT}`, 'host'],
    ['all tags', `stream|from().groupBy(*)${ALERT}`, 'all but '],
    [
      'a grouping below the source',
      `stream|from()|where(lambda: "v" > 0)|groupBy('dc')${ALERT}`,
      'dc',
    ],
    ['all tags but some', `stream|from()|groupBy(*).exclude('core')${ALERT}`, 'all but core'],
    [
      'the tags that all groupings have',
      `stream|from().groupBy('host', 'core')|mean('v')|groupBy('host')|sum('mean')|httpOut('x')`,
      'host',
    ],
    ['some of all tags', `stream|from().groupBy(*)|mean('v')|groupBy('host')|last('mean')`, 'host'],
    [
      'the tags that a join is on',
      `var a = stream|from().measurement('a').groupBy('host', 'core')
      var b = stream|from().measurement('b').groupBy('host')
      a|join(b).as('a', 'b').on('host')|log()`,
      'host',
    ],
    [
      'the tags of an id',
      `stream|from().groupBy('host', 'core')|alert().id('{{ index .Tags "host" }}')`,
      'host',
    ],
    [
      'the group of an id',
      `stream|from().groupBy('host', 'core')|alert().id('{{.Group}} {{ .TaskName }}')`,
      'core host',
    ],
    [
      'the tags of inhibited alerts',
      `stream|from().groupBy('host', 'core')|alert().inhibit('all', 'host')`,
      'host',
    ],
    [
      'tags that no node sets',
      `stream|from().groupBy('host', 'core')|default().tag('core', '0')|last('v')`,
      'host',
    ],
    ['conditions that count within groups', `${HOSTS}|where(lambda: count() > 3)`, 'host'],
  ])('%s', (_, script, by) => {
    expect(split(script)).toBe(by);
  });
});

describe('is not split', () => {
  test.each([
    ['without groups', 'stream|from()|log()', 'nothing groups the points by tags @ from'],
    [
      'with a window over all points',
      `stream|from()${ALERT}`,
      'window2 keeps something of points that are not grouped by tags @ window',
    ],
    [
      'with a condition that counts all points',
      "stream|from().where(lambda: count() > 3).groupBy('host')",
      'from1 has a condition that counts the points of all groups @ where',
    ],
    [
      'with a condition that counts before the grouping',
      "stream|from()|where(lambda: count() > 3)|groupBy('host')",
      'where2 keeps something of points that are not grouped by tags @ where',
    ],
    [
      'when groups are given up',
      `${HOSTS}|mean('v')|groupBy()|sum('mean')`,
      'sum4 keeps something of points that are not grouped by tags @ sum',
    ],
    [
      'by tags that no two groupings share',
      `${HOSTS}|log()|groupBy('dc')|last('v')`,
      'groupby3 groups by no written tag that all other groupings and ids of the task name too @ groupBy',
    ],
    [
      'by a tag that the task makes',
      `stream|from()|eval(lambda: "x").as('kind').tags('kind')|groupBy('kind')|last('v')`,
      'groupby3 groups by no written tag that all other groupings and ids of the task name too @ groupBy',
    ],
    [
      'with batches that are put together',
      `${HOSTS}|window().period(1s).every(1s)|groupBy('host')|mean('v')`,
      'groupby3 puts batches of all groups together by their time @ groupBy',
    ],
    [
      'with a union',
      `var a = ${HOSTS}\nvar b = ${HOSTS}\na|union(b)|log()`,
      'union4 orders the points of all groups by time @ union',
    ],
    [
      'with a dead man',
      `${HOSTS}|deadman(1.0, 10s)`,
      'stats2 counts all groups as one as long as there are none @ deadman',
    ],
    [
      'with one id for all groups',
      `${HOSTS}|alert().id('hosts')`,
      'alert2 has events of several groups under one id @ id',
    ],
    [
      'with an id of other tags',
      `${HOSTS}|alert().id('{{ index .Tags "dc" }}')`,
      'alert2 has events of several groups under one id @ id',
    ],
    [
      'with inhibition of all',
      `${HOSTS}|alert().inhibit('all')`,
      'alert2 inhibits events of other groups @ inhibit',
    ],
    [
      'as a batch task',
      `batch|query('SELECT v FROM a.b.c').groupBy('host')`,
      'query1 asks its query once for all groups @ query',
    ],
  ])('%s', (_, script, refusal) => {
    expect(split(script)).toBe(refusal);
  });
});
