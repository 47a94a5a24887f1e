// post: sends the event as JSON, or formatted by a template of the configuration, to a URL or a
// named endpoint.
import { postHandler } from '@tidemark/pipeline';
import { readFileSync } from 'node:fs';
import { InvalidRequest, messageOf } from '@tidemark/core';
import {
  credentials,
  defaultOptions,
  defineSection,
  durationMs,
  file,
  headers,
  integer,
  receiver,
  refusal,
  str,
  template,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import type { TopicEvent } from '../event.ts';
import { printDataJson, printEventJson } from '../event.ts';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';

const endpointOptions = {
  endpoint: str('Name of this element.', 'example'),
  url: receiver('URL; a template for `httpPost` nodes.', 'http://example.com'),
  headers: headers('Headers of every request.'),
  'basic-auth': credentials('`username` and `password` of basic authentication.'),
  'alert-template': template('Template of the body for alerts; empty sends JSON.'),
  'alert-template-file': file('File with the template of the body for alerts.'),
  'row-template': template('Template of the body for rows; empty sends JSON.'),
  'row-template-file': file('File with the template of the body for rows.'),
};

type Endpoint = OptionsOf<typeof endpointOptions>;

/** Receivers that handlers and nodes refer to by name. */
export const HTTP_POST_SECTION = defineSection({
  name: 'httppost',
  doc: 'Named endpoints for `post` handlers and `httpPost` nodes.',
  elementKey: 'endpoint',
  options: endpointOptions,
  defaultElements: [defaultOptions(endpointOptions)],
  validate: (options) => {
    const url = options.url;
    if (url === '') return 'must specify url';
    if (!url.includes('{{') && !URL.canParse(url)) return `invalid URL ${JSON.stringify(url)}`;
    for (const kind of ['alert', 'row'] as const) {
      const { template: text, path } = bodyOf(options, kind);
      if (text !== '' && path !== '') {
        return `must specify only one of ${kind}-template and ${kind}-template-file`;
      }
      try {
        bodyTemplate(options, kind);
      } catch (error) {
        return messageOf(error);
      }
    }
    return undefined;
  },
});

export const post = deliver(postHandler, {
  section: HTTP_POST_SECTION,
  element: 'endpoint',
  validate: (options) => {
    const names = Object.keys(options.headers ?? {}).map((name) => name.toLowerCase());
    return names.includes('authenticate') ? "cannot set 'authenticate' header" : undefined;
  },
  send,
  tests: [
    defineTest({
      name: 'httppost',
      options: {
        endpoint: str('Element of the configuration.', 'example'),
        url: str('Receiver.', 'http://localhost:3000/'),
        headers: headers('Headers.', { Auth: 'secret' }),
        timeout: integer('Longest time of the request in nanoseconds.'),
      },
      run: async (options, context) => {
        const response = await context.http.send(
          {
            method: 'POST',
            url: options.url,
            headers: { 'Content-Type': 'application/json', ...options.headers },
            body: '{}',
          },
          context.signal,
        );
        if (response.status < 200 || response.status > 299) {
          throw new InvalidRequest(`POST returned non 2xx status code: ${response.status}`);
        }
      },
    }),
  ],
});

async function send(
  event: TopicEvent,
  options: OptionsOf<typeof postHandler.options>,
  context: HandlerContext,
): Promise<void> {
  const name = options.endpoint;
  const endpoint = name === '' ? undefined : context.section(HTTP_POST_SECTION, name);
  if (name !== '' && endpoint === undefined)
    throw new InvalidRequest(`unknown endpoint ${JSON.stringify(name)}`);
  const url = options.url || (endpoint?.url ?? '');
  if (url === '') throw new InvalidRequest('either URL or endpoint must be non-empty');
  const scope = { ...templateScope(event), Data: JSON.parse(printDataJson(event.data)) as unknown };
  const template = endpoint === undefined ? '' : bodyTemplate(endpoint, 'alert');
  const response = await context.http.send(
    {
      method: 'POST',
      url: url.includes('{{') ? context.render(url, scope) : url,
      headers: {
        ...(template === '' ? { 'Content-Type': 'application/json' } : {}),
        ...endpoint?.headers,
        ...basicAuth(endpoint),
        ...options.headers,
      },
      body: template === '' ? `${printEventJson(event)}\n` : context.render(template, scope),
      timeoutMs: durationMs(options.timeout) || undefined,
      tls: { isVerificationSkipped: options['skip-ssl-verification'] },
    },
    context.signal,
  );
  if (response.status >= 200 && response.status <= 299) return;
  const detail = options['capture-response'] ? `: ${response.body.trim().slice(0, 1000)}` : '';
  throw refusal(response.status, `POST returned non 2xx status code: ${response.status}${detail}`);
}

/**
 * The template of an endpoint's body, '' when there is none. Throws `InvalidRequest` when its file
 * cannot be read.
 */
export function bodyTemplate(endpoint: Endpoint, kind: 'alert' | 'row'): string {
  const { template: text, path } = bodyOf(endpoint, kind);
  if (path === '') return text;
  try {
    // Read for each event, so that the file may be changed; it is small and in the system's memory.
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InvalidRequest(`cannot read ${kind}-template-file. file=\`${path}\``, { cause });
  }
}

/** The body of an endpoint: its template, or the file that contains it. */
function bodyOf(
  endpoint: Endpoint,
  kind: 'alert' | 'row',
): { readonly template: string; readonly path: string } {
  return kind === 'alert'
    ? { template: endpoint['alert-template'], path: endpoint['alert-template-file'] }
    : { template: endpoint['row-template'], path: endpoint['row-template-file'] };
}

function basicAuth(endpoint: Endpoint | undefined): Record<string, string> {
  if (endpoint === undefined) return {};
  const { username, password } = endpoint['basic-auth'] ?? {};
  if (username === undefined || username === '') return {};
  const encoded = Buffer.from(`${username}:${password ?? ''}`).toString('base64');
  return { Authorization: `Basic ${encoded}` };
}
