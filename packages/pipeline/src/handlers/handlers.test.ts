// Handlers of scripts become kinds and options of topic handlers.
import { describe, expect, test } from 'vitest';
import { bool, integer } from '@tidemark/settings/tables';
import { defineHandler, flag } from '../definition/handler-definition.ts';
import { buildPipeline, HANDLERS } from '../index.ts';
import type { AlertOptions } from '../index.ts';

function handlersOf(script: string): AlertOptions['handlers'] {
  const { pipeline, error } = buildPipeline(`stream|from()|alert()${script}`);
  expect(error).toBeUndefined();
  return (pipeline!.nodes[2]!.options as AlertOptions).handlers;
}

test.each([
  [".log('/tmp/x').mode(0644)", 'log', { path: '/tmp/x', mode: 0o644 }],
  [
    ".chat().channel('#c').workspace('w').username('u').iconEmoji(':x:')",
    'chat',
    { channel: '#c', workspace: 'w', username: 'u', 'icon-emoji': ':x:' },
  ],
  [".slack().Channel('#c')", 'chat', { channel: '#c' }],
  [
    ".email('a@x', 'b@x').to('c@x').toTemplates('{{ .Name }}')",
    'smtp',
    { to: ['a@x', 'b@x', 'c@x'], 'to-field': ['{{ .Name }}'] },
  ],
  [".exec('/bin/p', 'a', 'b')", 'exec', { prog: '/bin/p', args: ['a', 'b'] }],
  [
    ".post('http://h/').header('A', 'b').header('C', 'd').timeout(90s).captureResponse()",
    'post',
    { url: 'http://h/', headers: { A: 'b', C: 'd' }, timeout: '1m30s', 'capture-response': true },
  ],
  [
    ".post().endpoint('e').skipSSLVerification()",
    'post',
    { endpoint: 'e', 'skip-ssl-verification': true },
  ],
  [".tcp('h:1')", 'tcp', { address: 'h:1' }],
  [
    ".mqtt('t').brokerName('b').qos(1).retained(TRUE)",
    'mqtt',
    { topic: 't', 'broker-name': 'b', qos: 'at-least-once', retained: true },
  ],
  [
    ".kafka().cluster('c').kafkaTopic('t').template('x')",
    'kafka',
    { cluster: 'c', topic: 't', template: 'x' },
  ],
  [
    ".snmpTrap('1.2').data('1.2.3', 's', 'v').data('1.2.4', 'i', '1')",
    'snmptrap',
    {
      'trap-oid': '1.2',
      'data-list': [
        { oid: '1.2.3', type: 's', value: 'v' },
        { oid: '1.2.4', type: 'i', value: '1' },
      ],
    },
  ],
  [
    ".pagerDuty2().serviceKey('k').link('http://a', 'A').link('http://b')",
    'pagerduty2',
    { 'routing-key': 'k', links: [{ href: 'http://a', text: 'A' }, { href: 'http://b' }] },
  ],
  [
    ".alerta().services('a', 'b').attribute('k', 'v').attribute('n', 5).timeout(1h)",
    'alerta',
    { service: ['a', 'b'], attributes: { k: 'v', n: 5 }, timeout: '1h0m0s' },
  ],
  [
    ".opsGenie2().teams('a').recoveryAction('close').details()",
    'opsgenie2',
    { 'teams-list': ['a'], recovery_action: 'close', details: true },
  ],
  [".zenoss().tid(5).customField('a', 'b')", 'zenoss', { tid: 5, custom_fields: { a: 'b' } }],
  [
    ".telegram().chatId('c').disableNotification()",
    'telegram',
    { 'chat-id': 'c', 'disable-notification': true },
  ],
  [".pushover().URL('u').URLTitle('t')", 'pushover', { url: 'u', 'url-title': 't' }],
  ['.talk()', 'talk', {}],
] as const)('%s', (script, kind, options) => {
  const handlers = handlersOf(script);

  expect(handlers).toHaveLength(1);
  expect(handlers[0]).toMatchObject({ kind });
  expect(handlers[0]?.options).toEqual(options);
});

test('properties that a handler does not know belong to the alert, and its own may follow', () => {
  const { pipeline } = buildPipeline(
    "stream|from()|alert().log('/tmp/x').crit(lambda: TRUE).mode(0644).slack().topic('t').channel('#c')",
  );
  const options = pipeline!.nodes[2]!.options as AlertOptions;

  expect(options.topic).toBe('t');
  expect(options.crit).toBeDefined();
  expect(options.handlers.map((each) => each.options)).toEqual([
    { path: '/tmp/x', mode: 0o644 },
    { channel: '#c' },
  ]);
});

describe('refused', () => {
  test.each([
    [".log('/tmp/x').all().mode(0644)", /no property method "mode" on \*pipeline\.AlertNode/],
    [".mqtt('t').qos(7)", /invalid MQTT quality of service 7/],
    [".post('http://h/').header('Authenticate', 'x')", /cannot set 'authenticate' header/],
    [".slack('x')", /reflect: Call with too many input arguments/],
    ['.slack().channel("x")', /did you use double quotes instead of single quotes/],
  ])('%s', (script, text) => {
    expect(buildPipeline(`stream|from()|alert()${script}`).error?.text).toMatch(text);
  });
});

test('names and kinds are unique, so that every name means one thing', () => {
  const names = HANDLERS.flatMap((each) => [each.name, ...each.aliases]);

  expect(new Set(names).size).toBe(names.length);
  expect(new Set(HANDLERS.map((each) => each.kind)).size).toBe(HANDLERS.length);
});

test('what a handler declares about its form in scripts has the types of its options', () => {
  const options = { count: integer('Number.'), on: bool('On.') };
  const define = (script: Parameters<typeof defineHandler<typeof options>>[0]['script']) =>
    defineHandler({
      kind: 'k',
      doc: 'Does.',
      options,
      ...(script === undefined ? {} : { script }),
    });
  const common = { name: 'k', className: 'K' };
  const refused = [
    // @ts-expect-error: the option is a boolean
    () => define({ ...common, properties: { on: { option: 'on', apply: () => 1 } } }),
    // @ts-expect-error: a flag is the property of a boolean
    () => define({ ...common, properties: { count: flag('count') } }),
    // @ts-expect-error: there is no such option
    () => define({ ...common, properties: { other: 'other' } }),
    // @ts-expect-error: the option is a number
    () => define({ ...common, validate: ({ count = '' }) => ({ text: count }) }),
  ];
  const draft = define({
    ...common,
    properties: { next: { option: 'count', apply: (before = 0) => before + 1 }, on: flag('on') },
    validate: ({ count = 0 }) => (count > 1 ? { text: `too many: ${count.toFixed()}` } : undefined),
  }).script!.draft([]);

  draft.apply('on', []);
  draft.apply('next', []);
  expect(draft.validate()).toBeUndefined();
  draft.apply('next', []);
  expect(draft.options()).toEqual({ on: true, count: 2 });
  expect(draft.validate()).toEqual({ text: 'too many: 2' });
  expect(refused).toHaveLength(4);
});
