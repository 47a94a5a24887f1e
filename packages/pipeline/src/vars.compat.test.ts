// Recorded vars of tasks and templates.
import { describe, expect, test } from 'vitest';
import { namedCases } from '../../../tests/compat/recorded-engine-cases.ts';
import { buildPipeline, definitionErrorText, parseVars, printVars } from './index.ts';
import type { BuildOptions } from './index.ts';

/** The error of a definition, as the API would print it. */
function errorOf(script: string, options: BuildOptions): string | undefined {
  const { error } = buildPipeline(script, options);
  return error === undefined ? undefined : definitionErrorText(error);
}

/**
 * Recorded is null as the value of a star; the specification has the empty string, which
 * definitions accept.
 */
function bySpecification(vars: unknown): unknown {
  const text = JSON.stringify(vars);
  return JSON.parse(text.replaceAll('"type":"star","value":null', '"type":"star","value":""'));
}

describe('vars of tasks', () => {
  const tasks = namedCases((each) => each.type === 'vars');

  test.each(tasks)('%s', (_name, each) => {
    const { vars, error } = parseVars(each.vars);

    if (error === undefined) expect(errorOf(each.script ?? '', { vars })).toBe(each.error);
    else {
      // The recorded texts are `invalid JSON` and names of types of Go.
      expect(error).toMatch(/^invalid var \S+: .* must be /);
      expect(each.error).toEqual(expect.any(String));
    }
    if (each.error === undefined) expect(printVars(vars!)).toEqual(bySpecification(each.taskVars));
  });

  test('there are recorded cases', () => {
    expect(tasks.length).toBeGreaterThan(15);
  });
});

describe('vars of templates', () => {
  const templates = namedCases((each) => each.template !== undefined);

  test.each(templates)('%s', (_name, each) => {
    const script = each.template?.script ?? '';
    const template = buildPipeline(script, { isTemplate: true });

    if (each.phase === 'template') {
      expect(template.error && definitionErrorText(template.error)).toBe(each.error);
      return;
    }
    expect(template.error).toBeUndefined();
    expect(printVars(template.vars)).toEqual(each.templateVars);
    if (each.phase === 'define') {
      const { vars } = parseVars(each.vars);
      expect(errorOf(script, { vars })).toBe(each.error);
    }
  });
});

test.each([
  [[], 'vars must be an object of vars by their names'],
  [{ x: 1 }, 'invalid var x: it must be an object with type and value'],
  [{ x: { value: 1 } }, /^invalid var x: its type must be one of bool, int, float, .*, list$/],
  [
    { x: { type: 'number', value: 1 } },
    /^invalid var x: its type must be one of .*, not "number"$/,
  ],
  [
    { x: { type: 'int', value: 1.5 } },
    'invalid var x: its value must be an integer of 64 bits, not 1.5',
  ],
  [
    { x: { type: 'int', value: null } },
    'invalid var x: its value must be an integer of 64 bits, not null',
  ],
  [
    { x: { type: 'bool', value: 'yes' } },
    'invalid var x: its value must be true or false, not "yes"',
  ],
  [
    { x: { type: 'list', value: [1] } },
    /^invalid var x: its value must be a list of objects .*, not a list$/,
  ],
  [
    { x: { type: 'string', value: 'a', description: 1 } },
    'invalid var x: its description must be text',
  ],
])('%j is refused by name', (json, message) => {
  expect(parseVars(json).error).toEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  );
});

test('all nine types survive JSON', () => {
  const json = {
    a: { type: 'int', value: 2n ** 62n + 1n, description: 'x' },
    b: { type: 'float', value: 0.5, description: '' },
    c: { type: 'string', value: 'x', description: '' },
    d: { type: 'bool', value: true, description: '' },
    e: { type: 'duration', value: 1_500_000_000, description: '' },
    f: { type: 'regex', value: 'a/b', description: '' },
    g: { type: 'lambda', value: '"v" > 1', description: '' },
    h: { type: 'star', value: '', description: '' },
    i: {
      type: 'list',
      value: [
        { type: 'string', value: 'k', description: '' },
        { type: 'star', value: '', description: '' },
      ],
      description: '',
    },
  };

  const { vars, error } = parseVars(json);

  expect(error).toBeUndefined();
  expect(printVars(vars!)).toEqual(json);
});
