// Completion follows the types of nodes through unfinished scripts.
import { expect, test } from 'vitest';
import { completeScript } from './index.ts';
import type { UdfRegistry } from './index.ts';

const udfs: UdfRegistry = new Map([
  ['smooth', { wants: 'stream', provides: 'stream', options: { size: ['int'] } }],
]);

/** Labels at the end of a text. */
function labels(text: string): readonly string[] {
  return completeScript(text, text.length, { udfs }).completions.map((each) => each.label);
}

test('below a source there are only its own nodes', () => {
  expect(labels('stream|')).toEqual(['from', 'deadman', 'stats']);
  expect(labels('batch|')).toEqual(['query', 'deadman', 'queryFlux', 'stats']);
});

test('behind a point there are the properties of the node, also through vars', () => {
  const text = "var a = stream|from().measurement('x')\nvar b = a|window()\nb.per";

  const { from, completions } = completeScript(text, text.length);

  expect(text.slice(from)).toBe('per');
  expect(completions.map((each) => each.label + each.signature)).toContain(
    'period(period: duration)',
  );
  expect(completions.map((each) => each.label)).not.toContain('measurement');
});

test('a handler offers its own properties before those of the alert', () => {
  const offered = labels("stream|from()|alert().crit(lambda: TRUE).slack().channel('x').");

  expect(offered[0]).toBe('workspace');
  expect(offered).toContain('topic');
  expect(offered).toContain('victorOps');
  expect(labels("stream|from()|alert().slack().topic('x').")).toContain('workspace');
  expect(labels('stream|from()|alert().slack().all().')).not.toContain('workspace');
});

test('user-defined functions and their options are offered', () => {
  expect(labels('stream|from()@')).toEqual(['smooth']);
  expect(labels('stream|from()@smooth().')).toEqual(['size', 'quiet']);
});

test('inside a lambda there are functions, behind it not', () => {
  expect(labels('stream|from().where(lambda: "a" > f')).toContain('float');
  expect(labels('stream|from().where(lambda: abs("a") > ')).toContain('float');
  expect(labels('stream|from().where(lambda: TRUE).')).toContain('measurement');
});

test('at the start of a statement there are vars and sources', () => {
  expect(labels('// the limit\nvar limit = 1\n')).toEqual(['limit', 'batch', 'stream']);
});

test('behind what is no node there is nothing', () => {
  expect(labels('var a = 1\na|')).toEqual([]);
  expect(labels('var a = a|x()\na|')).toEqual([]);
  expect(labels('|')).toEqual([]);
});
