// Every option of every section that clients can change, with the extreme values of its type: a
// refused value changes nothing, and no accepted value prevents the engine from running or
// restarting.
import { TestServer } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OptionSpec, OptionType, SectionSpec } from '@tidemark/settings';
import { OVERRIDABLE_SECTIONS } from './overridable-sections.ts';

const LONG = 'x'.repeat(100_000);
const TEXTS = [
  '',
  ' ',
  LONG,
  'a\nb',
  '\0',
  '../../etc',
  '{{ .',
  'http://[',
  'ü',
  '${x}',
  '__proto__',
];
const NUMBERS = [
  -1,
  0,
  1,
  0.5,
  65_535,
  65_536,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e300,
  '-1',
  '1e400',
  'NaN',
];
const OTHERS = [null, true, false, 'text', 7, -7, [], {}, [1], { a: 1 }, [[[]]]];

const EXTREMES: Record<OptionType, readonly unknown[]> = {
  string: [...TEXTS, ...OTHERS],
  boolean: [false, 'true', ...OTHERS, true],
  integer: [...NUMBERS, ...OTHERS],
  float: [...NUMBERS, ...OTHERS],
  duration: [
    ...NUMBERS,
    '-1s',
    '0s',
    '1ns',
    '2562047h47m16s',
    '9999999999999h',
    '-9223372036854775808ns',
    ...OTHERS,
  ],
  size: [...NUMBERS, '1k', '9999999g', ...OTHERS],
  strings: [TEXTS, [LONG], Array.from({ length: 1000 }, () => 'a'), ...OTHERS],
  'string-map': [{ '': '' }, { a: 'b\nc' }, { '\0': '\0' }, { [LONG]: LONG }, ...OTHERS],
  json: [deep(60), deep(100), { a: [LONG] }, { '': null }, ...OTHERS],
};

function deep(depth: number): unknown {
  return depth === 0 ? {} : { a: deep(depth - 1) };
}

let database: TestServer;
let engine: TestEngine;

beforeAll(async () => {
  database = new TestServer(({ path }) =>
    path.startsWith('/query') ? { body: '{"results":[{}]}' } : { status: 204 },
  );
  await database.open();
  engine = new TestEngine();
  await engine.start();
});

afterAll(async () => {
  await engine.close();
  await database.close();
});

/** Options without a default that an element needs before it is used. */
function usable(section: SectionSpec): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(section.options)) {
    if (name === section.elementKey) continue;
    if (name === 'enabled') given[name] = true;
    else if (name === 'urls' || name === 'servers') given[name] = [database.url];
    else if (/^(?:url|channel-url|api-servers)$/.test(name)) given[name] = urlOf(spec);
    else if (/^(?:token|app-key|user-key|source|region|rp|discoverer-id)$/.test(name))
      given[name] = 'x';
    else if (name === 'discoverer-service') given[name] = 'static-discovery';
    else if (name === 'from') given[name] = 'a@b';
    else if (name === 'brokers' || name === 'targets') given[name] = ['127.0.0.1:1'];
    else if (name === 'addr' && spec.default === '') given[name] = '127.0.0.1:1';
  }
  return given;
}

const urlOf = ({ type }: OptionSpec): unknown =>
  type === 'strings' ? [database.url] : database.url;

test.each(OVERRIDABLE_SECTIONS.map((section) => [section.name, section] as const))(
  '%s takes or refuses every value of every option',
  { timeout: 120_000 },
  async (name, section) => {
    const post = (path: string, body: unknown): ReturnType<TestEngine['call']> =>
      engine.call('POST', `/engine/v1/config/${path}`, body);
    const element = section.elementKey === undefined ? `${name}/` : `${name}/swept`;
    const base = usable(section);
    const { elementKey } = section;
    const first =
      elementKey === undefined
        ? await post(element, { set: base })
        : await post(name, { add: { ...base, [elementKey]: 'swept' } });
    expect(first.json.error).toBe(undefined);

    /** The last accepted value of each option. */
    const taken = new Map<string, unknown>();
    let before = first.json;
    for (const [option, spec] of Object.entries(section.options)) {
      if (option === section.elementKey) continue;
      for (const value of EXTREMES[spec.type]) {
        const { status, json } = await post(element, { set: { [option]: value } });
        expect(
          [200, 400],
          `${option} = ${JSON.stringify(value)?.slice(0, 200)}: ${json.error}`,
        ).toContain(status);
        if (status === 200) {
          taken.set(option, value);
          before = json;
        } else expect(json.error).toEqual(expect.any(String));
      }
      // A refused change has no effect.
      expect((await engine.call('GET', `/engine/v1/config/${name}`)).json).toEqual(before);
      // The next option is looked at in an element that is in use.
      const back = { set: base, delete: [option].filter((each) => !(each in base)) };
      before = (await post(element, back)).json;
    }
    // They apply at the next start; what does not go with the others is refused now.
    for (const [option, value] of taken) {
      if (!(option in base)) await post(element, { set: { [option]: value } });
    }
    await engine.stop();
    await engine.start();

    expect(taken.size).toBeGreaterThan(0);
    expect(engine.log.filter((line) => line.includes('stored override is not used'))).toEqual([]);
    const left =
      section.elementKey === undefined
        ? await post(element, { delete: Object.keys(section.options) })
        : await post(name, { remove: ['swept'] });
    expect(left.json.error).toBe(undefined);
  },
);
