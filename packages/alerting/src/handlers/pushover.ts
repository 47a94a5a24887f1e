// pushover: push notifications.
import { pushoverHandler } from '@tidemark/pipeline';
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { checkStatus, enabledSection } from './service.ts';

const section = defineSection({
  name: 'pushover',
  doc: 'Pushover.',
  options: {
    ...enabled(),
    token: secret('Token of the application.'),
    'user-key': secret('User or group when a handler names none.'),
    url: str('URL of the API.', 'https://api.pushover.net/1/messages.json'),
  },
  validate: (options) =>
    requireWhenEnabled(options, {
      token: 'must specify token',
      'user-key': 'must specify user key',
      url: 'must specify url',
    }) ?? checkUrl('url', options.url),
});

const PRIORITIES: Readonly<Record<AlertLevelName, string>> = {
  OK: '-2',
  INFO: '-1',
  WARNING: '0',
  CRITICAL: '1',
};

export const pushover = deliver(pushoverHandler, {
  section,
  send: (event, options, context) => push(event.message, event.level, { options, context }),
  tests: [
    defineTest({
      name: 'pushover',
      options: {
        'user-key': str('User or group.'),
        message: str('Text.', 'test pushover message'),
        device: str('Device.'),
        title: str('Title.'),
        url: str('Link.'),
        'url-title': str('Text of the link.'),
        sound: str('Sound.'),
        level: str('Level that chooses the priority.', 'CRITICAL'),
      },
      run: (options, context) => {
        const level = parseLevel(options.level);
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return push(options.message, level, { options, context });
      },
    }),
  ],
});

async function push(
  message: string,
  level: AlertLevelName,
  {
    options,
    context,
  }: {
    readonly options: OptionsOf<typeof pushoverHandler.options>;
    readonly context: HandlerContext;
  },
): Promise<void> {
  const config = enabledSection(context, section);
  const form = new URLSearchParams({
    token: config.token,
    user: options['user-key'] || config['user-key'],
    message,
    priority: PRIORITIES[level],
  });
  const optional = {
    device: 'device',
    title: 'title',
    url: 'url',
    url_title: 'url-title',
    sound: 'sound',
  } as const;
  for (const [name, option] of Object.entries(optional)) {
    if (options[option] !== '') form.set(name, options[option]);
  }
  const response = await context.http.send(
    {
      method: 'POST',
      url: config.url,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    },
    context.signal,
  );
  checkStatus(response, 'Pushover', [200]);
}
