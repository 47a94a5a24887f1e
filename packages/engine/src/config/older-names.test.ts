// Older names of sections, handlers and kinds: the complete list, and that an older name has the
// same effect as the current one in files, overrides, scripts, topic handlers and service tests.
import { HANDLER_KINDS } from '@tidemark/alerting';
import { HANDLERS } from '@tidemark/pipeline';
import { eventually, TestServer } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINE_ENVIRONMENT_SCHEMA, resolveEngineConfig } from './config.ts';
import { OVERRIDABLE_SECTIONS } from './overridable-sections.ts';
import { TestEngine } from '@tidemark/testkit/engine';

/** Older name by present one. A name that scripts and files out there use must not get lost. */
const SECTIONS = { influxdb: 'tsdb', slack: 'chat' };
const KINDS = { email: 'smtp', httppost: 'post', slack: 'chat' };
const SCRIPT_NAMES = { chat: 'slack' };

/** Sections and kinds of Kapacitor 1.x files, of what is here. */
const KNOWN_SECTIONS =
  'alert alerta bigpanda collectd config-override deadman discord dns ec2 file-discovery graphite hipchat http httppost influxdb kafka kubernetes load logging mqtt opentsdb opsgenie opsgenie2 pagerduty pagerduty2 pushover replay reporting scraper sensu servicenow slack smtp snmptrap static-discovery stats swarm talk task teams telegram tls udf udp victorops zenoss';
const KNOWN_KINDS =
  'aggregate alerta bigpanda discord exec hipchat kafka log mqtt opsgenie opsgenie2 pagerduty pagerduty2 post publish pushover sensu servicenow slack smtp snmptrap stateChangesOnly talk tcp teams telegram victorops zenoss';

/** The messages that the chat service received: channel and text. */
const posted: string[] = [];
const server = new TestServer(({ body }) => {
  // The engine asks the database for its version, too.
  if (body === '') return {};
  const { channel, attachments } = JSON.parse(body) as {
    channel: string;
    attachments: readonly { text: string }[];
  };
  posted.push(`${channel} ${attachments[0]?.text}`);
  return { body: 'ok' };
});
const engine = new TestEngine();

beforeAll(async () => {
  await server.open();
  const { url } = server;
  await engine.start({
    influxdb: [{ name: 'house', urls: [url], 'disable-subscriptions': true }],
    slack: [{ enabled: true, default: true, url, channel: '#file' }],
  });
});

afterAll(async () => {
  await engine.close();
  await server.close();
});

function aliasesOf(
  rows: readonly { readonly name: string; readonly aliases?: readonly string[] | undefined }[],
): object {
  return Object.fromEntries(
    rows.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [alias, name])),
  );
}

test('the lists are complete', () => {
  expect(aliasesOf(OVERRIDABLE_SECTIONS)).toEqual(SECTIONS);
  expect(aliasesOf(HANDLER_KINDS.map(({ kind, aliases }) => ({ name: kind, aliases })))).toEqual(
    KINDS,
  );
  expect(aliasesOf(HANDLERS)).toEqual(SCRIPT_NAMES);
});

test.each(KNOWN_SECTIONS.split(' '))('section %s is known, also when it is empty', (name) => {
  const { isRepeated = false } = ENGINE_ENVIRONMENT_SCHEMA[name] ?? {};
  const values = { [name]: isRepeated ? [] : {} };
  expect(resolveEngineConfig([{ source: 'file', values }]).problems).toEqual([]);
});

test('a section may be written once where a list is meant, under its older name too', () => {
  const values = { slack: { enabled: true, url: 'http://h/', channel: '#one' } };
  const { config, problems } = resolveEngineConfig([{ source: 'file', values }]);
  expect(problems).toEqual([]);
  expect(config.overridable.get('chat')).toMatchObject([{ channel: '#one' }]);
});

test('present and older name of a section in one file is a mistake that is told', () => {
  const values = { slack: [{ url: 'http://h/' }], chat: [{ url: 'http://h/' }] };
  expect(resolveEngineConfig([{ source: 'file', values }]).problems).toMatchObject([
    { key: 'slack' },
  ]);
});

test.each(Object.entries(SECTIONS))('the API has %s as %s', async (older, present) => {
  const optionsOf = async (name: string): Promise<readonly object[]> => {
    const { status, json } = await engine.call('GET', `/engine/v1/config/${name}`);
    expect(status).toBe(200);
    return json.elements.map((element: { readonly options: object }) => element.options);
  };
  const options = await optionsOf(older);
  expect(options).toHaveLength(1);
  expect(options).toEqual(await optionsOf(present));
});

test.each(KNOWN_KINDS.split(' '))('kind %s is one of a handler', async (kind) => {
  const handler = { id: kind, kind, options: { noSuchOption: 1 } };
  const path = '/engine/v1preview/alerts/topics/kinds/handlers';
  const { status, json } = await engine.call('POST', path, handler);
  // A kind that is not known is refused before its options are looked at.
  expect(status).toBeGreaterThanOrEqual(400);
  expect(json.error).toContain('noSuchOption');
});

describe('a message goes out', () => {
  /** Writes a point that alerts in the task, and waits for what the chat service gets. */
  async function alertOf(id: string, handlers: string): Promise<void> {
    const script = `stream|from().measurement('${id}')|alert().id('${id}').message('${id} {{ .Level }}').crit(lambda: TRUE)${handlers}`;
    const task = { id, script, dbrps: [{ db: 'd', rp: 'r' }], status: 'enabled' };
    expect((await engine.call('POST', '/engine/v1/tasks', task)).status).toBe(200);
    expect((await engine.call('POST', '/write?db=d&rp=r', `${id} v=1`)).status).toBe(204);
  }
  const arrives = (message: string): Promise<unknown> =>
    eventually(message, async () => (posted.includes(message) ? true : undefined));

  test.each(['slack', 'chat'])('by .%s() in a script', async (name) => {
    await alertOf(`script_${name}`, `.${name}()`);
    await arrives(`#file script_${name} CRITICAL`);
  });

  test.each(['slack', 'chat'])('by kind %s of a topic', async (kind) => {
    const handler = { id: 'h', kind, options: { channel: '#topic' } };
    const path = `/engine/v1preview/alerts/topics/of_${kind}/handlers`;
    expect((await engine.call('POST', path, handler)).status).toBe(200);
    await alertOf(`kind_${kind}`, `.topic('of_${kind}')`);
    await arrives(`#topic kind_${kind} CRITICAL`);
  });

  test('with options that were overridden under the older name', async () => {
    const change = { set: { channel: '#override' } };
    const { status } = await engine.call('POST', '/engine/v1/config/slack/', change);
    expect(status).toBe(200);
    await alertOf('overridden', '.slack()');
    await arrives('#override overridden CRITICAL');
  });
});
