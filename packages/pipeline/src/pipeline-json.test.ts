// Pipelines survive JSON, and JSON goes through the same rules as scripts.
import { expect, test } from 'vitest';
import { recordedScripts } from '../../../tests/compat/recorded-engine-cases.ts';
import { buildPipeline, parsePipeline, printPipeline } from './index.ts';
import type { Pipeline, UdfRegistry } from './index.ts';

/** Without what only a text has: positions, and how an expression was laid out. */
function comparable(pipeline: Pipeline): unknown {
  const layout = ['span', 'operatorSpan', 'isMultiLine', 'comment', 'isOctal', 'text', 'literal'];
  return JSON.parse(
    JSON.stringify(pipeline, (key, value: unknown) => {
      if (layout.includes(key)) return undefined;
      if (value instanceof Map) return [...value];
      return typeof value === 'bigint' ? `${value}n` : value;
    }),
  );
}

test('every recorded pipeline is read back as it was printed', () => {
  let count = 0;
  for (const script of recordedScripts) {
    const { pipeline } = buildPipeline(script);
    if (pipeline === undefined) continue;
    const json: unknown = JSON.parse(JSON.stringify(printPipeline(pipeline)));

    const result = parsePipeline(json);

    expect(result.error, script).toBeUndefined();
    expect(comparable(result.pipeline!), script).toEqual(comparable(pipeline));
    count++;
  }
  expect(count).toBeGreaterThan(1_000);
});

test('user-defined functions are read back when they are configured', () => {
  const udfs: UdfRegistry = new Map([
    ['smooth', { wants: 'stream', provides: 'stream', options: { size: ['int'] } }],
  ]);
  const { pipeline } = buildPipeline('stream|from()@smooth().size(3)|log()', { udfs });
  const json = printPipeline(pipeline!);

  expect(comparable(parsePipeline(json, { udfs }).pipeline!)).toEqual(comparable(pipeline!));
  expect(parsePipeline(json).error).toBe('no user-defined function smooth');
});

test('pipelines are plain data that another thread can be sent', () => {
  const long = Array.from({ length: 1_900 }, (_, i) => `"h" == '${i}'`).join(' OR ');

  for (const script of [...recordedScripts, `stream|from().where(lambda: ${long})`]) {
    const { pipeline } = buildPipeline(script);
    if (pipeline !== undefined) expect(structuredClone(pipeline)).toEqual(pipeline);
  }
});

const source = {
  id: 0,
  name: 'stream0',
  type: 'stream',
  parents: [],
  arguments: [],
  properties: [],
};
const windowNode = { ...source, id: 1, type: 'window', parents: [0] };

test.each([
  ['no object', 5, 'a pipeline must be an object'],
  ['another source', { type: 'batch', nodes: [source] }, 'the first node must be the batch source'],
  [
    'an unknown type',
    { type: 'stream', nodes: [source, { ...source, type: 'x' }] },
    'no node type x',
  ],
  [
    'a parent that does not exist yet',
    { type: 'stream', nodes: [source, { ...windowNode, parents: [2] }] },
    'nodes refer to earlier nodes by id',
  ],
  [
    'a value of a wrong type',
    {
      type: 'stream',
      nodes: [
        source,
        { ...windowNode, properties: [{ name: 'period', values: [{ type: 'int', value: 1 }] }] },
      ],
    },
    'error calling func "period" on obj *pipeline.WindowNode: reflect.Set: value of type int64 is not assignable to type time.Duration',
  ],
  [
    'a broken rule',
    { type: 'stream', nodes: [source, { ...source, id: 1, type: 'barrier', parents: [0] }] },
    'idle must be greater than zero',
  ],
])('refuses %s', (_name, json, error) => {
  expect(parsePipeline(json).error).toBe(error);
});
