// Every property of every node and handler of the registries survives JSON, and the script that a
// pipeline is printed as.
import { expect, test } from 'vitest';
import {
  buildPipeline,
  HANDLERS,
  NODES,
  parsePipeline,
  printPipeline,
  printPipelineScript,
} from './index.ts';
import type { Parameter } from './index.ts';

/** Calls without which a node is refused. */
const REQUIRED: ReadonlyMap<string, string> = new Map([
  ['eval', ".as('a')"],
  ['combine', ".as('a', 'b')"],
  ['join', ".as('a', 'b')"],
  ['flatten', ".on('a')"],
  ['barrier', '.idle(1s)'],
  ['k8sAutoscale', ".resourceName('a').replicas(lambda: 1)"],
  ['swarmAutoscale', ".serviceName('a').replicas(lambda: 1)"],
  ['ec2Autoscale', ".groupName('a').replicas(lambda: 1)"],
  ['sideload', ".source('file:///a').order('b')"],
  ['kapacitorLoopback', ".database('a').retentionPolicy('b')"],
]);

/** Properties whose values or companions are not any of their types. */
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ['window.periodCount', '.periodCount(2).everyCount(2)'],
  ['k8sAutoscale.kind', ".kind('deployments')"],
  ['alert.inhibit', ".inhibit('a', 'b')"],
  ['alert.flapping', '.flapping(0.25, 0.5)'],
  ['query.cron', ".cron('* * * * * * *')"],
  ['query.groupBy', ".groupBy('a')"],
  ['eval.as', ".as('a')"],
  ['eval.tags', ".tags('a')"],
]);

/** Whole calls of nodes whose properties exclude each other, or whose edges are others. */
const WHOLE: ReadonlyMap<string, string> = new Map([
  ['barrier.period', 'barrier().period(1s)'],
  ['groupBy.exclude', "groupBy(*).exclude('text')"],
  ['httpPost.endpoint', "httpPost().endpoint('text')"],
  ['k8sAutoscale.resourceNameTag', "k8sAutoscale().resourceNameTag('a').replicas(lambda: 1)"],
  ['swarmAutoscale.serviceNameTag', "swarmAutoscale().serviceNameTag('a').replicas(lambda: 1)"],
  ['ec2Autoscale.groupNameTag', "ec2Autoscale().groupNameTag('a').replicas(lambda: 1)"],
]);
const CALLS: ReadonlyMap<string, string> = new Map([
  ['combine', 'combine(lambda: TRUE, lambda: "a" > 1)'],
  ['trickle', 'window().period(1s).every(1s)|trickle()'],
]);

function sample({ type, name }: Parameter): string {
  switch (type) {
    case 'string':
      return "'text'";
    case 'int':
      return '2';
    case 'float':
      return '0.5';
    case 'bool':
      return 'TRUE';
    case 'duration':
      return '10s';
    case 'lambda':
      return 'lambda: "a" > 1 AND isPresent("b")';
    case 'node':
      return 'stream|from()';
    case 'any':
      return name.startsWith('dimension') || name === 'tag' ? "'text'" : '2';
  }
}

const call = (name: string, parameters: readonly Parameter[]): string =>
  `${name}(${parameters.map(sample).join(', ')})`;

function scriptsOf(row: (typeof NODES)[number]): readonly string[] {
  const { type } = row;
  const source = type === 'query' ? 'batch' : type === 'from' ? 'stream' : 'stream|from()';
  const required = REQUIRED.get(type) ?? '';
  const start = `${source}|${CALLS.get(type) ?? call(type, row.parameters)}`;
  return [
    start + required,
    ...row.properties.map(({ name, parameters }) => {
      const whole = WHOLE.get(`${type}.${name}`);
      if (whole !== undefined) return `${source}|${whole}`;
      const property = SPECIAL.get(`${type}.${name}`) ?? `.${call(name, parameters)}`;
      // A property that is required is there once.
      return start + (required.includes(`.${name}(`) ? required : required + property);
    }),
  ];
}

/** Made by other nodes, or the start of every script. */
const WITHOUT_CALL = new Set(['stream', 'batch', 'noOp', 'stats', 'udf']);

const scripts = [
  ...NODES.filter(({ type }) => !WITHOUT_CALL.has(type)).flatMap(scriptsOf),
  'stream|from()|stats(1s)',
  'stream|from()|deadman(1.0, 10s)',
  ...HANDLERS.flatMap((handler) => {
    const start = `stream|from()|alert().${call(handler.name, handler.parameters)}`;
    return [
      start,
      ...handler.properties.map(({ name, parameters }) =>
        name === 'recoveryAction'
          ? `${start}.recoveryAction('notes')`
          : `${start}.${call(name, parameters)}`,
      ),
    ];
  }),
];

/** Properties that only texts have. */
const LAYOUT = new Set(['span', 'operatorSpan', 'text', 'isParenthesized', 'isMultiLine']);

test.each(scripts)('%s', (script) => {
  const built = buildPipeline(script);
  expect(built.error?.text).toBeUndefined();
  const json = printPipeline(built.pipeline!);

  const again = parsePipeline(JSON.parse(JSON.stringify(json)));

  expect(again.error).toBeUndefined();
  expect(printPipeline(again.pipeline!)).toEqual(json);
  const options = (pipeline: typeof built.pipeline): unknown =>
    JSON.stringify(
      pipeline?.nodes.map((node) => node.options),
      (key, value: unknown) =>
        typeof value === 'bigint' || value instanceof Map
          ? String(value instanceof Map ? JSON.stringify([...value].map(String)) : value)
          : LAYOUT.has(key)
            ? undefined
            : value,
    );
  expect(options(again.pipeline)).toBe(options(built.pipeline));

  const rewritten = buildPipeline(printPipelineScript(built.pipeline!).script ?? '');
  expect(printPipeline(rewritten.pipeline!)).toEqual(json);
});
