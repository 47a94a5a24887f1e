// hipchat: notifications of rooms.
import { hipchatHandler } from '@tidemark/pipeline';
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  STATE_CHANGES_ONLY,
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'hipchat',
  doc: 'HipChat.',
  options: {
    ...enabled(),
    url: str('URL of the rooms, `https://host/v2/room`.'),
    token: secret('Token of the API.'),
    room: str('Room when a handler names none.'),
    ...GLOBAL,
    ...STATE_CHANGES_ONLY,
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl('url', options.url),
});

const COLORS: Readonly<Record<AlertLevelName, string>> = {
  OK: 'green',
  INFO: 'green',
  WARNING: 'yellow',
  CRITICAL: 'red',
};

export const hipchat = deliver(hipchatHandler, {
  section,
  send: (event, options, context) => notify(event.message, event.level, { options, context }),
  tests: [
    defineTest({
      name: 'hipchat',
      configured: ['room'],
      options: {
        room: str('Room.'),
        message: str('Text.', 'test hipchat message'),
        level: str('Level that chooses the color.', 'CRITICAL'),
      },
      run: (options, context) => {
        const level = parseLevel(options.level);
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return notify(options.message, level, { options, context });
      },
    }),
  ],
});

async function notify(
  message: string,
  level: AlertLevelName,
  {
    options,
    context,
  }: {
    readonly options: { readonly room: string; readonly token?: string };
    readonly context: HandlerContext;
  },
): Promise<void> {
  const config = enabledSection(context, section);
  const room = options.room || config.room;
  const token = options.token || config.token;
  const base = config.url.replace(/\/+$/, '');
  await postJson(context, {
    service: 'HipChat',
    url: `${base}/${encodeURIComponent(room)}/notification?auth_token=${encodeURIComponent(token)}`,
    json: { from: 'kapacitor', color: COLORS[level], message, notify: true },
    expect: [200, 204],
  });
}
