// Secrets in definitions of handlers: how they are shown, which ones are kept when a definition is
// sent back, and what a patch may change.
import { describe, expect, test } from 'vitest';
import { HIDDEN, findHidden } from '@tidemark/settings';
import { HandlerPatch, hideHandlerSecrets, keepHandlerSecrets } from './handler-secrets.ts';
import { printHandlerSpec, readHandlerSpec } from './handler-spec.ts';
import type { HandlerSpec } from './handler-spec.ts';
import { HANDLER_KINDS } from './registry.ts';

const handler = (...actions: (readonly [kind: string, options: object])[]): HandlerSpec =>
  readHandlerSpec({ id: 'h', actions: actions.map(([kind, options]) => ({ kind, options })) });

const optionsOf = (spec: HandlerSpec, index = 0): unknown => spec.actions[index]?.options;

const POST = {
  url: 'https://user:pass-word@host.example/in?room=1&auth_token=tok-en',
  headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'env:KEY', Accept: 'text/plain' },
  'capture-response': true,
};

describe('what is shown', () => {
  test('a marker replaces the secret part of each option, and the rest is as written', () => {
    expect(optionsOf(hideHandlerSecrets(handler(['post', POST])))).toEqual({
      url: `https://user:${HIDDEN}@host.example/in?room=1&auth_token=${HIDDEN}`,
      headers: { Authorization: HIDDEN, 'X-Api-Key': 'env:KEY', Accept: 'text/plain' },
      'capture-response': true,
    });
  });

  test.each([
    ['alerta', 'token'],
    ['hipchat', 'token'],
    ['pagerduty', 'service-key'],
    ['pagerduty2', 'routing-key'],
    ['pushover', 'user-key'],
    ['servicenow', 'password'],
    ['teams', 'channel-url'],
  ])('%s hides its %s, and shows where it is when it is elsewhere', (kind, option) => {
    const shown = (value: string): unknown =>
      optionsOf(hideHandlerSecrets(handler([kind, { [option]: value }])));

    expect(shown('hush')).toEqual({ [option]: HIDDEN });
    expect(shown('')).toEqual({ [option]: '' });
    expect(shown('file:/run/secrets/x')).toEqual({ [option]: 'file:/run/secrets/x' });
  });

  test('every option that is a secret in the configuration of its kind is one in a handler too', () => {
    for (const kind of HANDLER_KINDS) {
      const secrets = Object.entries(kind.section?.options ?? {}).filter(
        ([, spec]) => spec.isSecret === true,
      );
      for (const [name] of secrets) {
        const own = kind.options[name];
        if (own !== undefined) expect(own.isSecret, `${kind.kind} ${name}`).toBe(true);
      }
    }
  });
});

describe('a definition that comes back as it was shown', () => {
  const stored = handler(
    ['stateChangesOnly', {}],
    ['post', POST],
    ['teams', { 'channel-url': 'a' }],
  );

  test('keeps what is stored', () => {
    expect(keepHandlerSecrets(hideHandlerSecrets(stored), stored)).toEqual(stored);
  });

  test('keeps it beside what is new, also when the chain is another', () => {
    const next = handler(
      ['teams', { 'channel-url': HIDDEN }],
      ['post', { ...POST, headers: { Authorization: HIDDEN, Accept: 'application/json' } }],
    );

    const kept = keepHandlerSecrets(next, stored);

    expect(optionsOf(kept, 0)).toEqual({ 'channel-url': 'a' });
    expect(optionsOf(kept, 1)).toMatchObject({
      headers: { Authorization: 'Bearer abc', Accept: 'application/json' },
    });
  });

  test.each<[string, HandlerSpec]>([
    ['of another kind', handler(['alerta', { token: HIDDEN }])],
    ['of a header that had none', handler(['post', { headers: { Cookie: HIDDEN } }])],
    ['of a URL that was changed', handler(['post', { url: `https://u:${HIDDEN}@host.example/` }])],
    [
      'of one of two that cannot be told apart',
      handler(['teams', { 'channel-url': HIDDEN }], ['teams', { 'channel-url': HIDDEN }]),
    ],
  ])('leaves a marker %s, which checking refuses', (_what, next) => {
    const kept = keepHandlerSecrets(next, stored);

    expect(kept.actions.some(({ options }) => findHidden(options) !== undefined)).toBe(true);
  });

  test.each([
    ['another host', { url: 'https://elsewhere.example/in', headers: { Authorization: HIDDEN } }],
    ['an endpoint', { endpoint: 'other', headers: { Authorization: HIDDEN } }],
    ['a template', { url: 'https://{{ .ID }}/', headers: { Authorization: HIDDEN } }],
  ])('does not send it to %s', (_where, options) => {
    expect(() => keepHandlerSecrets(handler(['post', options]), handler(['post', POST]))).toThrow(
      /names another receiver; write the secrets of its options anew/,
    );
  });

  test('sends it along another path of the same host', () => {
    const path = { url: 'https://host.example/other', headers: { Authorization: HIDDEN } };

    const kept = keepHandlerSecrets(handler(['post', path]), handler(['post', POST]));

    expect(optionsOf(kept)).toMatchObject({ headers: { Authorization: 'Bearer abc' } });
  });
});

describe('a patch', () => {
  const stored = handler(
    ['teams', { 'channel-url': 'first' }],
    ['teams', { 'channel-url': 'second' }],
    ['post', POST],
  );

  type Actions = { kind: string; options: Record<string, any> }[];

  function patch(change: (actions: Actions) => void): HandlerSpec {
    const editing = new HandlerPatch('t', stored);
    change(editing.document['actions'] as unknown as Actions);
    return editing.restore(readHandlerSpec(editing.document));
  }

  test('keeps every secret of what it moves about', () => {
    const moved = patch((actions) => actions.unshift(...actions.splice(1, 1)));

    expect(moved.actions.map(({ options }) => options)).toEqual([
      { 'channel-url': 'second' },
      { 'channel-url': 'first' },
      POST,
    ]);
  });

  test('sees markers where it looks', () => {
    const { actions } = new HandlerPatch('t', stored).shown() as unknown as { actions: Actions };

    expect(actions).toEqual(hideHandlerSecrets(stored).actions);
  });

  test.each<[string, (actions: Actions, token: unknown) => void]>([
    ['an option that is shown', ([, , post], token) => (post!.options['headers'].Accept = token)],
    ['the options of another kind', ([, , post], token) => (post!.options['url'] = token)],
  ])('copies no secret into %s', (_where, copy) => {
    expect(() => patch((actions) => copy(actions, actions[0]?.options['channel-url']))).toThrow(
      /a secret cannot be moved into/,
    );
  });

  test('does not send a secret elsewhere', () => {
    const url = 'https://elsewhere.example/';

    expect(() => patch(([, , post]) => (post!.options['url'] = url))).toThrow(
      /names another receiver/,
    );
  });

  test('replaces a secret, and shows no token of those it kept', () => {
    const changed = patch(([, second]) => (second!.options['channel-url'] = 'third'));

    expect(JSON.stringify(printHandlerSpec(changed))).not.toContain(HIDDEN);
    expect(optionsOf(changed, 1)).toEqual({ 'channel-url': 'third' });
  });
});
