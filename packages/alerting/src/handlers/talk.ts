// talk: incoming webhooks of Jianliao (Talk).
import { talkHandler } from '@tidemark/pipeline';
import {
  checkUrl,
  defineSection,
  enabled,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'talk',
  doc: 'Talk.',
  options: {
    ...enabled(),
    url: secret('URL of the incoming webhook.'),
    author_name: str('Name under which messages appear.'),
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'must specify url' }) ?? checkUrl('url', options.url),
});

export const talk = deliver(talkHandler, {
  section,
  send: (event, _options, context) => send(context, event.id, event.message),
  tests: [
    defineTest({
      name: 'talk',
      options: {
        title: str('Title.', 'testTitle'),
        text: str('Text.', 'test talk text'),
      },
      run: (options, context) => send(context, options.title, options.text),
    }),
  ],
});

async function send(context: HandlerContext, title: string, message: string): Promise<void> {
  const config = enabledSection(context, section);
  await postJson(context, {
    service: 'Talk',
    url: config.url,
    json: { title, text: message, authorName: config.author_name },
    expect: [200],
  });
}
