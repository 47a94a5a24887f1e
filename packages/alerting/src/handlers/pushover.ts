// pushover: push notifications.
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import { text, checkUrl, enabled, requireWhenEnabled, secret, str } from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { checkStatus, enabledSection } from './service.ts';

const section: SectionSpec = {
  name: 'pushover',
  doc: 'Pushover.',
  options: [
    enabled(),
    secret('token', 'Token of the application.'),
    secret('user-key', 'User or group when a handler names none.'),
    str('url', 'URL of the API.', 'https://api.pushover.net/1/messages.json'),
  ],
  validate: (options) =>
    requireWhenEnabled(options, {
      token: 'must specify token',
      'user-key': 'must specify user key',
      url: 'must specify url',
    }) ?? checkUrl(options, 'url'),
};

const PRIORITIES: Readonly<Record<AlertLevelName, string>> = {
  OK: '-2',
  INFO: '-1',
  WARNING: '0',
  CRITICAL: '1',
};

const messageOptions = [
  secret('user-key', 'User or group; empty is the configured one.'),
  str('device', 'Device; empty is all.'),
  str('title', 'Title.'),
  str('url', 'Link.'),
  str('url-title', 'Text of the link.'),
  str('sound', 'Sound.'),
];

export const pushover: HandlerKind = {
  kind: 'pushover',
  doc: 'Sends a push notification.',
  options: messageOptions,
  section,
  send: (event, options, context) => push(event.message, event.level, { options, context }),
  tests: [
    {
      name: 'pushover',
      options: [
        str('user-key', 'User or group.'),
        str('message', 'Text.', 'test pushover message'),
        str('device', 'Device.'),
        str('title', 'Title.'),
        str('url', 'Link.'),
        str('url-title', 'Text of the link.'),
        str('sound', 'Sound.'),
        str('level', 'Level that chooses the priority.', 'CRITICAL'),
      ],
      run: (options, context) => {
        const level = parseLevel(text(options, 'level'));
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return push(text(options, 'message'), level, { options, context });
      },
    },
  ],
};

async function push(
  message: string,
  level: AlertLevelName,
  { options, context }: { readonly options: Options; readonly context: HandlerContext },
): Promise<void> {
  const config = enabledSection(context, 'pushover');
  const form = new URLSearchParams({
    token: text(config, 'token'),
    user: text(options, 'user-key') || text(config, 'user-key'),
    message,
    priority: PRIORITIES[level],
  });
  const optional = {
    device: 'device',
    title: 'title',
    url: 'url',
    url_title: 'url-title',
    sound: 'sound',
  };
  for (const [name, option] of Object.entries(optional)) {
    if (text(options, option) !== '') form.set(name, text(options, option));
  }
  const response = await context.http.send(
    {
      method: 'POST',
      url: text(config, 'url'),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    },
    context.signal,
  );
  checkStatus(response, 'Pushover', [200]);
}
