// Recorded graphs of stopped and running tasks.
import { describe, expect, test } from 'vitest';
import { namedCases } from '../../../tests/compat/recorded-engine-cases.ts';
import type { EngineCase } from '../../../tests/compat/recorded-engine-cases.ts';
import { buildPipeline, formatDot, formatRunningDot } from './index.ts';
import type { DotView, NodeStats, Pipeline } from './index.ts';

type Counters = Record<string, number>;

const named = namedCases((each) => each.dot !== undefined);

function pipelineOf(each: EngineCase): Pipeline {
  const { pipeline, error } = buildPipeline(each.script ?? '');
  expect(error).toBeUndefined();
  return pipeline!;
}

/** The counters that a recorded graph shows. */
function statsOf(dot: string): Map<string, NodeStats> {
  const stats = new Map<string, { counters: Counters; processed: Map<string, number> }>();
  for (const [, name = '', attributes = ''] of dot.matchAll(/^(\w+) \[(avg.*|alerts.*)\];$/gm)) {
    const counters: Counters = {};
    for (const [, key = '', value = ''] of attributes.matchAll(/(\w+)="([^"]*)"/g)) {
      counters[key] = value === '{{D}}' ? 1500 : Number(value);
    }
    stats.set(name, { counters, processed: new Map() });
  }
  for (const [, from = '', to = '', count] of dot.matchAll(/^(\w+) -> (\w+) .*?="(\d+)"/gm)) {
    stats.get(from)?.processed.set(to, Number(count));
  }
  return stats;
}

describe('graphs of tasks at rest', () => {
  test.each(named.filter(([, each]) => each.writes === undefined))('%s', (_name, each) => {
    expect(formatDot('oracle', pipelineOf(each))).toBe(each.dot);
  });
});

describe('graphs of running tasks', () => {
  test.each(named.filter(([, each]) => each.writes !== undefined))('%s', (_name, each) => {
    const pipeline = pipelineOf(each);
    const stats = { throughput: 3.25, nodes: statsOf(each.dot ?? '') };
    const recorded = (text?: string) =>
      text?.replaceAll('{{D}}', '1.5µs').replaceAll('{{N}}', '3.25');

    const print = (view: DotView) => formatRunningDot('oracle', pipeline, { stats, view });

    expect(print('attributes')).toBe(recorded(each.dot));
    expect(print('labels')).toBe(recorded(each.dotLabels));
  });
});

test('there are recorded graphs to compare with', () => {
  expect(named.length).toBeGreaterThan(10);
});
