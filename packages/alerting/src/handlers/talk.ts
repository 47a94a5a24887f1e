// talk: incoming webhooks of Jianliao (Talk).
import { text, checkUrl, enabled, requireWhenEnabled, secret, str } from '@tidemark/settings';
import type { SectionSpec } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section: SectionSpec = {
  name: 'talk',
  doc: 'Talk.',
  options: [
    enabled(),
    secret('url', 'URL of the incoming webhook.'),
    str('author_name', 'Name under which messages appear.'),
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl(options, 'url'),
};

export const talk: HandlerKind = {
  kind: 'talk',
  doc: 'Posts to Talk.',
  options: [],
  section,
  send: (event, _options, context) => send(context, event.id, event.message),
  tests: [
    {
      name: 'talk',
      options: [str('title', 'Title.', 'testTitle'), str('text', 'Text.', 'test talk text')],
      run: (options, context) => send(context, text(options, 'title'), text(options, 'text')),
    },
  ],
};

async function send(context: HandlerContext, title: string, message: string): Promise<void> {
  const config = enabledSection(context, 'talk');
  await postJson(context, {
    service: 'Talk',
    url: text(config, 'url'),
    json: { title, text: message, authorName: text(config, 'author_name') },
    expect: [200],
  });
}
