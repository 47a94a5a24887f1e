// Pipelines of scripts: nodes with names, edges, options; vars, scopes, macros, user-defined
// functions.
import { describe, expect, test } from 'vitest';
import { formatExpression } from '@tidemark/tickscript';
import {
  buildPipeline,
  parseVars,
  alertNode,
  evalNode,
  fromNode,
  influxdbOutNode,
  logNode,
  queryNode,
  statsNode,
  udfNode,
  windowNode,
} from './index.ts';
import type { BuildOptions, NodeKind, LambdaSpec, Pipeline } from './index.ts';

function build(script: string, options?: BuildOptions): Pipeline {
  const { pipeline, error } = buildPipeline(script, options);
  expect(error).toBeUndefined();
  return pipeline!;
}

/** Options of the node with this name. */
function optionsOf<Options>(kind: NodeKind<Options>, pipeline: Pipeline, name: string): Options {
  const node = pipeline.nodes.find((each) => each.name === name);
  if (node === undefined || !kind.isOf(node)) throw new Error(`${name} is no ${kind.type}`);
  return node.options;
}

function textOf(lambda: LambdaSpec | undefined): string {
  return lambda === undefined ? '' : formatExpression(lambda.expression);
}

const edgesOf = (pipeline: Pipeline) =>
  pipeline.nodes.map(
    (node) => `${node.name} ${node.wants}>${node.provides} [${node.parents.join()}]`,
  );

describe('nodes', () => {
  test('have ids in creation order, and edges that follow their parents', () => {
    const pipeline = build("stream|from()|window().period(10s).every(10s)|mean('v')|influxDBOut()");

    expect(edgesOf(pipeline)).toEqual([
      'stream0 stream>stream []',
      'from1 stream>stream [0]',
      'window2 stream>batch [1]',
      'mean3 batch>stream [2]',
      'influxdb_out4 stream>none [3]',
    ]);
    expect(pipeline.nodes.map((node) => node.id)).toEqual([0, 1, 2, 3, 4]);
  });

  test('of several parents use up one number per parent but keep dense ids', () => {
    const pipeline = build(
      "var a = stream|from()\nvar b = stream|from()\nvar c = stream|from()\na|join(b, c).as('a', 'b', 'c')|log()",
    );

    expect(edgesOf(pipeline).slice(3)).toEqual([
      'from3 stream>stream [0]',
      'join6 stream>stream [1,2,3]',
      'log7 stream>stream [4]',
    ]);
  });

  test('carry defaults and what the script set', () => {
    const pipeline = build('stream|from()|window().period(1m).align().quiet()');

    expect(optionsOf(windowNode, pipeline, 'window2')).toEqual({
      periodNanos: 60_000_000_000n,
      everyNanos: 0n,
      isAligned: true,
      isFillingPeriod: false,
      periodCount: 0n,
      everyCount: 0n,
    });
    expect(pipeline.nodes[2]?.isQuiet).toBe(true);
  });

  test('take repeated properties', () => {
    const pipeline = build(
      "stream|from().where(lambda: \"a\" > 1 OR \"b\").where(lambda: \"c\")|influxDBOut().tag('x', '1').tag('y', '2')",
    );

    expect(textOf(optionsOf(fromNode, pipeline, 'from1').where)).toBe('("a" > 1 OR "b") AND "c"');
    expect(optionsOf(influxdbOutNode, pipeline, 'influxdb_out2').tags).toEqual(
      new Map([
        ['x', '1'],
        ['y', '2'],
      ]),
    );
  });

  test('are changed through a var, also after they have children', () => {
    const pipeline = build(
      "var f = stream|from()\nf|log()\nf.measurement('m')\nvar m = f.measurement\nf|log().prefix(m)",
    );

    expect(optionsOf(fromNode, pipeline, 'from1').measurement).toBe('m');
    expect(optionsOf(logNode, pipeline, 'log3').prefix).toBe('m');
  });
});

describe('queries', () => {
  test('group by time, with and without offset, and by tags', () => {
    const pipeline = build(
      "batch|query('SELECT v FROM m').period(1m).every(30s).groupBy(time(10s, -2s), 'h', *).fill(0)",
    );
    const { dimensions, fill } = optionsOf(queryNode, pipeline, 'query1');

    expect(dimensions).toEqual([
      { kind: 'time', lengthNanos: 10_000_000_000n, offsetNanos: -2_000_000_000n },
      { kind: 'tag', name: 'h' },
      { kind: 'all' },
    ]);
    expect(fill).toEqual({ kind: 'number', value: 0n });
  });

  test('in Flux are refused with a hint what to write instead', () => {
    const { error } = buildPipeline('batch|queryFlux(\'from(bucket: "x")\')');

    expect(error?.text).toBe(
      'line 1 char 7: Flux queries are not supported; write the query in InfluxQL and use |query()',
    );
  });
});

describe('vars', () => {
  test('are put into lambdas by their value at that place', () => {
    const pipeline = build(
      'var limit = 2 * 3\nvar big = lambda: "v" > limit\nvar re = /a\\/b/\nstream|from()|eval(lambda: big AND "h" =~ re, lambda: -limit).as(\'x\', \'y\')',
    );

    const { expressions } = optionsOf(evalNode, pipeline, 'eval2');
    expect(expressions.map(textOf)).toEqual(['(lambda: "v" > 6) AND "h" =~ /a\\/b/', '-6']);
  });

  test('given by the task replace the defaults, and only those', () => {
    const { vars } = parseVars({
      p: { type: 'duration', value: '2m' },
      other: { type: 'int', value: 1 },
    });
    const pipeline = build('var p = 1m\nvar q = p * 2\nstream|from()|window().period(p).every(q)', {
      vars,
    });

    expect(optionsOf(windowNode, pipeline, 'window2')).toMatchObject({
      periodNanos: 120_000_000_000n,
      everyNanos: 240_000_000_000n,
    });
  });

  test('computed with whole nanoseconds, wrapped integers and shortened floats', () => {
    const { vars } = buildPipeline(
      "var a = 9223372036854775807 + 1\nvar b = 7 / -2\nvar c = 1s / 3\nvar d = 10s * 0.25\nvar e = 1h / 1m\nvar f = if(1 < 2.5, 'x', 'y') + string(1.50)\nvar g = !(1 == 1.0)\nvar h = float('1e3') + 0.5\nvar i = duration(3, 1m) + 0s\nstream|from()",
    );

    expect(Object.fromEntries([...vars].map(([name, { value }]) => [name, value]))).toEqual({
      a: { kind: 'integer', value: -9223372036854775808n },
      b: { kind: 'integer', value: -3n },
      c: { kind: 'duration', nanos: 333_333_333n },
      d: { kind: 'duration', nanos: 2_500_000_000n },
      e: { kind: 'integer', value: 60n },
      f: { kind: 'string', value: 'x1.5' },
      g: { kind: 'boolean', value: false },
      h: { kind: 'float', value: 1000.5 },
      i: { kind: 'duration', nanos: 180_000_000_000n },
    });
  });

  test('of a template without value have the zero value of their type', () => {
    const script =
      'var p duration\nvar t string\nvar l list\nvar f lambda\nvar r regex\nstream|from().measurement(t).groupBy(l).where(lambda: "x" =~ r)|where(f)|window().period(p).every(p)';

    const { pipeline } = buildPipeline(script, { isTemplate: true });

    expect(pipeline?.nodes.map((node) => node.name)).toEqual([
      'stream0',
      'from1',
      'where2',
      'window3',
    ]);
    expect(buildPipeline(script).error?.text).toBe('missing value for var "p".');
  });

  test('used twice in a lambda are two parts with state of their own, also inside other vars', () => {
    const pipeline = build(
      "var c = lambda: count()\nvar d = lambda: c + 1\nstream|from()|eval(lambda: d + d).as('x')",
    );
    const calls = new Set<unknown>();
    JSON.stringify(optionsOf(evalNode, pipeline, 'eval2'), function (key, value: unknown) {
      if (key === 'name' && value === 'count') calls.add(this);
      return typeof value === 'bigint' ? String(value) : value;
    });

    expect(calls.size).toBe(2);
  });

  test('embedded in each other give a default text that can be given to a var again', () => {
    const { vars } = buildPipeline(
      'var a = lambda: "x" > 1 OR "y"\nvar b = lambda: a AND "z"\nstream|from().where(b)',
    );

    expect(vars.get('b')?.value).toEqual({ kind: 'lambda', text: '("x" > 1 OR "y") AND "z"' });
  });
});

describe('macros', () => {
  test('stats counts a node and gives it a child if it has none', () => {
    const pipeline = build("var f = stream|from()\nf|log()\nf|stats(10s).align()|httpOut('x')");

    expect(edgesOf(pipeline).slice(2)).toEqual([
      'log2 stream>stream [1]',
      'stats3 stream>stream []',
      'http_out4 stream>stream [3]',
    ]);
    expect(optionsOf(statsNode, pipeline, 'stats3')).toEqual({
      sourceNodeId: 1,
      intervalNanos: 10_000_000_000n,
      isAligned: true,
    });
  });

  test('deadman is stats, derivative and alert, and the alert takes handlers', () => {
    const pipeline = build(
      'stream|from()|deadman(100.0, 90s, lambda: hour("time") > 8, lambda: TRUE).slack().channel(\'#x\')',
    );
    const alert = optionsOf(alertNode, pipeline, 'alert5');

    expect(textOf(alert.crit)).toBe('"emitted" <= 100.0 AND (hour("time") > 8) AND TRUE');
    expect(alert.id).toBe("{{ .Group }}:from1 for task '{{ .TaskName }}'");
    expect(alert.message).toContain('points/1m30s.');
    expect(alert.handlers.map((each) => [each.kind, each.options])).toEqual([
      ['chat', { channel: '#x' }],
    ]);
  });

  test('a global deadman watches the source of every task', () => {
    const deadman = {
      id: 'NODE_NAME',
      message: 'x',
      intervalNanos: 1n,
      threshold: 0,
      isGlobal: true,
    };
    const pipeline = build('stream|from()', { deadman });

    expect(pipeline.nodes.map((node) => node.name)).toEqual([
      'stream0',
      'from1',
      'stats2',
      'derivative3',
      'alert4',
    ]);
    expect(optionsOf(alertNode, pipeline, 'alert4').id).toBe('stream0');
  });
});

describe('user-defined functions', () => {
  const udfs = new Map([
    [
      'smooth',
      {
        wants: 'stream',
        provides: 'batch',
        options: { size: ['int', 'duration'], field: ['string'] },
      },
    ],
  ] as const);

  test('are nodes with the options that they declare', () => {
    const pipeline = build("stream|from()@smooth().size(3, 1s).field('v')|mean('v')", { udfs });

    expect(edgesOf(pipeline).slice(2)).toEqual([
      'smooth2 stream>batch [1]',
      'mean3 batch>stream [2]',
    ]);
    expect(optionsOf(udfNode, pipeline, 'smooth2')).toMatchObject({
      functionName: 'smooth',
      calls: [
        { name: 'size', values: [{ value: 3n }, { nanos: 1_000_000_000n }] },
        { name: 'field', values: [{ value: 'v' }] },
      ],
    });
  });

  test.each([
    ['stream|from()@smooth().size(3)', 'unexpected number of args to size, got 1 expected 2'],
    ['stream|from()@smooth().field(3)', 'unexpected arg to field, got int64 expected string'],
    ['stream|from()@smooth().other(3)', 'no method or property "other" on *pipeline.UDFNode'],
    ['stream|from()|smooth()', "but dynamic method does exist. Use '@' operator instead"],
  ])('%s is refused', (script, text) => {
    expect(buildPipeline(script, { udfs }).error?.text).toContain(text);
  });

  test('on a wrong edge are refused when the task starts', () => {
    const { checkStart } = buildPipeline('stream|from()|window().period(1s)@smooth()', { udfs });

    expect(checkStart?.({ dbrps: [] }).map((each) => each.message)).toEqual([
      'cannot add child mismatched edges: window2:batch -> smooth3:stream',
    ]);
  });
});

describe('errors', () => {
  test.each([
    ["stream|from().mesurement('m')", 'did you mean measurement?'],
    ['stream|from()|windw()', 'did you mean window?'],
    ['stream|from().measurement("m")', "strings are written in single quotes: 'text'"],
    ['var limit = 1\nstream|from().where(lambda: "x" > limt)', 'did you mean limit?'],
    ['stream|from().where(lambda: TRUE && FALSE)', 'write AND for a logical and'],
    ['var a = true\nstream|from()', 'write TRUE'],
    [
      'var a = 1',
      'a script reads points with stream|from(), or asks a database with batch|query()',
    ],
  ])('%j has a hint', (script, hint) => {
    expect(buildPipeline(script).diagnostics[0]?.hint).toBe(hint);
  });

  test('of several statements are found at once, each only once', () => {
    const { error, diagnostics } = buildPipeline(
      'var a = 1 + 2.0\nvar b = a * 2\nvar f = stream|from().nope()\nf|log()\nstream|from().measurement(b)\nstream|from()|windw()',
    );

    expect(error?.text).toMatch(/^mismatched type to binary operator/);
    expect(diagnostics.map((each) => each.code)).toEqual([
      'TICK_CONSTANT',
      'TICK_UNKNOWN_METHOD',
      'TICK_UNKNOWN_METHOD',
    ]);
  });

  test('of several nodes are found at once', () => {
    const { diagnostics } = buildPipeline("stream|from()|barrier()|default().field('a', 1s)");

    expect(diagnostics.map((each) => each.message)).toEqual([
      'idle must be greater than zero',
      'unsupported type time.Duration for field "a", field default values must be float,int,string or bool',
    ]);
  });

  test('have the span of the word that is wrong', () => {
    const script = "stream\n    |from()\n        .nothing('x')";
    const { diagnostics, error } = buildPipeline(script);

    expect(error?.text).toBe(
      'line 3 char 10: no method or property "nothing" on *pipeline.FromNode',
    );
    const { start, end } = diagnostics[0]!.span;
    expect(script.slice(start, end)).toBe("nothing('x')");
  });
});
