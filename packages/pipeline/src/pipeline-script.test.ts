// A pipeline printed as a script: the script builds the same pipeline.
import { expect, test } from 'vitest';
import { recordedScripts } from '../../../tests/compat/recorded-engine-cases.ts';
import { buildPipeline, parsePipeline, printPipeline, printPipelineScript } from './index.ts';
import type { Pipeline, UdfRegistry } from './index.ts';
import { parseVars } from './vars-json.ts';

/** Without what only a text has: positions, and how an expression was laid out. */
function comparable(pipeline: Pipeline | undefined): unknown {
  const layout = ['span', 'operatorSpan', 'isMultiLine', 'comment', 'isOctal', 'text', 'literal'];
  return JSON.parse(
    JSON.stringify(pipeline, (key, value: unknown) => {
      if (layout.includes(key)) return undefined;
      if (value instanceof Map) return [...value];
      return typeof value === 'bigint' ? `${value}n` : value;
    }),
  );
}

function scriptOf(pipeline: Pipeline | undefined): string {
  const { script, error } = printPipelineScript(pipeline!);
  expect(error).toBeUndefined();
  return script!;
}

/** All of them are made again; these are quick. */
const SAMPLE = 8;

test('recorded pipelines are made again by their scripts, and those scripts are the same again', () => {
  let count = 0;
  for (const [index, script] of recordedScripts.entries()) {
    const { pipeline } = index % SAMPLE === 0 ? buildPipeline(script) : {};
    if (pipeline === undefined) continue;

    const printed = scriptOf(pipeline);
    const again = buildPipeline(printed);

    expect(again.error, `${script}\n${printed}`).toBeUndefined();
    expect(comparable(again.pipeline), printed).toEqual(comparable(pipeline));
    expect(scriptOf(again.pipeline)).toBe(printed);
    count++;
  }
  expect(count).toBeGreaterThan(100);
});

test('chains stay chains; what several nodes go on from has a name', () => {
  const { pipeline, error } = buildPipeline(`
    dbrp "d"."r"
    // how much is too much
    var limit = 90.0
    var hot = lambda: "usage" > limit
    var cpu = stream|from().measurement('cpu').groupBy('host')
    var mem = stream|from().measurement('mem')
    cpu|join(mem).as('c', 'm').tolerance(-1s)|where(lambda: hot AND "x" =~ /a\\/b/)
      |alert().crit(hot).slack().channel('#ops').email('a@b', 'c@d')
    cpu|window().period(10s).every(10s)|mean('usage').as('it\\'s')|deadman(1.0, 10s)`);
  expect(error).toBeUndefined();

  expect(scriptOf(pipeline)).toMatchInlineSnapshot(`
    "dbrp "d"."r"

    var from1 = stream
        |from()
            .measurement('cpu')
            .groupBy('host')

    var from2 = stream
        |from()
            .measurement('mem')

    var lambda_1 = lambda: "usage" > 90.0

    from1
        |join(from2)
            .as('c', 'm')
            .tolerance(-1s)
        |where(lambda: lambda_1 AND "x" =~ /a\\/b/)
        |alert()
            .crit(lambda: "usage" > 90.0)
            .slack()
            .channel('#ops')
            .email('a@b', 'c@d')

    from1
        |window()
            .period(10s)
            .every(10s)
        |mean('usage')
            .as('it\\'s')
        |stats(10s)
            .align()
        |derivative('emitted')
            .unit(10s)
            .nonNegative()
        |alert()
            .id('{{ .Group }}:mean8 for task \\'{{ .TaskName }}\\'')
            .message('{{ .ID }} is {{ if eq .Level "OK" }}alive{{ else }}dead{{ end }}: {{ index .Fields "emitted" | printf "%0.3f" }} points/10s.')
            .crit(lambda: "emitted" <= 1.0)
    "
  `);
});

const UDFS: UdfRegistry = new Map([
  ['smooth', { wants: 'stream', provides: 'stream', options: { size: ['int'] } }],
]);

test.each([
  ['a user-defined function', 'stream|from()@smooth().size(3)|log()'],
  ['a text that ends with a backslash', "stream|from().measurement('''a\\''')"],
  [
    'a text with quotes and a backslash at its end',
    "stream|from().measurement('x\\'\\'\\'' + '''\\''')",
  ],
  [
    'numbers without a literal of their own',
    "stream|from()|default().field('a', -5).field('b', -9223372036854775807 - 1).field('c', -0.5)",
  ],
  ['durations of nanoseconds', 'stream|from()|shift(1u / 1000)|shift(-3s)'],
  ['an infinite number', "stream|from()|default().field('a', 1.0 / 0.0)"],
  ['stats of a node without children', 'stream|from()|stats(10s)|log()'],
  ['stats of a node with children', 'var f = stream|from()\nf|log()\nf|stats(10s)|log()'],
  [
    'dimensions of a query',
    "batch|query('SELECT v FROM m').every(1m).groupBy(time(1m, -5s), 'host', *)",
  ],
])('%s', (_name, script) => {
  const { pipeline, error } = buildPipeline(script, { udfs: UDFS });
  expect(error).toBeUndefined();

  const again = buildPipeline(scriptOf(pipeline), { udfs: UDFS });

  expect(comparable(again.pipeline)).toEqual(comparable(pipeline));
});

test('values that a task gives are put in', () => {
  const { vars } = parseVars({
    name: { type: 'string', value: "it's \\" },
    condition: { type: 'lambda', value: '"a" > 1 OR count() > 2' },
    pattern: { type: 'regex', value: 'a/b' },
  });
  const script =
    'var name string\nvar condition lambda\nvar pattern regex\nstream|from().measurement(name)|where(condition)|where(lambda: "h" =~ pattern AND condition)';
  const { pipeline } = buildPipeline(script, { vars: vars! });

  const again = buildPipeline(scriptOf(pipeline));

  expect(comparable(again.pipeline)).toEqual(comparable(pipeline));
});

test('pipelines that only JSON can express have no script', () => {
  const { pipeline } = buildPipeline('stream|from()');
  const json = printPipeline(pipeline!);
  const second = { ...json.nodes[1], id: 2, name: 'from2', parents: [] };
  const read = parsePipeline({ ...json, nodes: [...json.nodes, second] });

  expect(printPipelineScript(read.pipeline!)).toEqual({
    error: 'a script has one source; from2 is another',
  });
  const merged = { ...json.nodes[1], id: 2, name: 'log3', type: 'log', parents: [0, 1] };
  const both = parsePipeline({ ...json, nodes: [...json.nodes, merged] });
  expect(printPipelineScript(both.pipeline!).error).toBe('log3 has more than one parent');
});
