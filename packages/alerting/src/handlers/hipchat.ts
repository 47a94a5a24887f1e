// hipchat: notifications of rooms.
import type { AlertLevelName } from '@tidemark/runtime';
import { InvalidRequest } from '@tidemark/core';
import {
  text,
  checkUrl,
  enabled,
  GLOBAL,
  requireWhenEnabled,
  secret,
  STATE_CHANGES_ONLY,
  str,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'hipchat',
  doc: 'HipChat.',
  options: [
    enabled(),
    str('url', 'URL of the rooms, `https://host/v2/room`.'),
    secret('token', 'Token of the API.'),
    str('room', 'Room when a handler names none.'),
    GLOBAL,
    STATE_CHANGES_ONLY,
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl(options, 'url'),
};

const COLORS: Readonly<Record<AlertLevelName, string>> = {
  OK: 'green',
  INFO: 'green',
  WARNING: 'yellow',
  CRITICAL: 'red',
};

export const hipchat: HandlerKind = {
  kind: 'hipchat',
  doc: 'Notifies a HipChat room.',
  options: [
    str('room', 'Room; empty is the configured one.'),
    secret('token', 'Token of the API.'),
  ],
  section,
  send: (event, options, context) => notify(event.message, event.level, { options, context }),
  tests: [
    {
      name: 'hipchat',
      configured: ['room'],
      options: [
        str('room', 'Room.'),
        str('message', 'Text.', 'test hipchat message'),
        str('level', 'Level that chooses the color.', 'CRITICAL'),
      ],
      run: (options, context) => {
        const level = parseLevel(text(options, 'level'));
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return notify(text(options, 'message'), level, { options, context });
      },
    },
  ],
};

async function notify(
  message: string,
  level: AlertLevelName,
  { options, context }: { readonly options: Options; readonly context: HandlerContext },
): Promise<void> {
  const config = enabledSection(context, 'hipchat');
  const room = text(options, 'room') || text(config, 'room');
  const token = text(options, 'token') || text(config, 'token');
  const base = text(config, 'url').replace(/\/+$/, '');
  await postJson(context, {
    service: 'HipChat',
    url: `${base}/${encodeURIComponent(room)}/notification?auth_token=${encodeURIComponent(token)}`,
    json: { from: 'kapacitor', color: COLORS[level], message, notify: true },
    expect: [200, 204],
  });
}
