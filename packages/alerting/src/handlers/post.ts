// post: sends the event as JSON, or as a template of the configuration makes it, to a URL or a
// named endpoint.
import { readFileSync } from 'node:fs';
import { InvalidRequest, messageOf } from '@tidemark/core';
import {
  refusal,
  durationMs,
  flag,
  map,
  text,
  bool,
  file,
  receiver,
  str,
  template,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { TopicEvent } from '../event.ts';
import { printDataJson, printEventJson } from '../event.ts';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';

const section: SectionSpec = {
  name: 'httppost',
  doc: 'Named endpoints for `post` handlers and `httpPost` nodes.',
  elementKey: 'endpoint',
  options: [
    str('endpoint', 'Name of this element.', 'example'),
    receiver('url', 'URL; a template for `httpPost` nodes.', 'http://example.com'),
    { name: 'headers', type: 'string-map', default: null, doc: 'Headers of every request.' },
    {
      name: 'basic-auth',
      type: 'string-map',
      default: null,
      doc: '`username` and `password` of basic authentication.',
      isSecret: true,
    },
    template('alert-template', 'Template of the body for alerts; empty sends JSON.'),
    file('alert-template-file', 'File that holds the template of the body for alerts.'),
    template('row-template', 'Template of the body for rows; empty sends JSON.'),
    file('row-template-file', 'File that holds the template of the body for rows.'),
  ],
  defaultElements: [
    {
      endpoint: 'example',
      url: 'http://example.com',
      headers: null,
      'basic-auth': null,
      'alert-template': '',
      'alert-template-file': '',
      'row-template': '',
      'row-template-file': '',
    },
  ],
  validate: (options) => {
    const url = text(options, 'url');
    if (url === '') return 'must specify url';
    if (!url.includes('{{') && !URL.canParse(url)) return `invalid URL ${JSON.stringify(url)}`;
    for (const kind of ['alert', 'row'] as const) {
      if (
        text(options, `${kind}-template`) !== '' &&
        text(options, `${kind}-template-file`) !== ''
      ) {
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
};

export const post: HandlerKind = {
  kind: 'post',
  aliases: ['httppost'],
  doc: 'Sends each event to a URL or to a configured endpoint.',
  options: [
    receiver('url', 'Receiver.'),
    receiver('endpoint', 'Element of the section `httppost` to use instead of a URL.'),
    { name: 'headers', type: 'string-map', default: null, doc: 'Headers of the request.' },
    bool('capture-response', 'Show the receiver’s answer in errors.'),
    {
      name: 'timeout',
      type: 'duration',
      default: 0n,
      doc: 'Longest time of a request; 0 is the common limit.',
    },
    bool('skip-ssl-verification', 'Accept any TLS certificate.'),
  ],
  section,
  element: 'endpoint',
  validate: (options) => {
    const names = Object.keys(map(options, 'headers')).map((name) => name.toLowerCase());
    return names.includes('authenticate') ? "cannot set 'authenticate' header" : undefined;
  },
  send,
  tests: [
    {
      name: 'httppost',
      options: [
        str('endpoint', 'Element of the configuration.', 'example'),
        str('url', 'Receiver.', 'http://localhost:3000/'),
        { name: 'headers', type: 'string-map', default: { Auth: 'secret' }, doc: 'Headers.' },
        {
          name: 'timeout',
          type: 'integer',
          default: 0,
          doc: 'Longest time of the request in nanoseconds.',
        },
      ],
      run: async (options, context) => {
        const response = await context.http.send(
          {
            method: 'POST',
            url: text(options, 'url'),
            headers: { 'Content-Type': 'application/json', ...map(options, 'headers') },
            body: '{}',
          },
          context.signal,
        );
        if (response.status < 200 || response.status > 299) {
          throw new InvalidRequest(`POST returned non 2xx status code: ${response.status}`);
        }
      },
    },
  ],
};

async function send(event: TopicEvent, options: Options, context: HandlerContext): Promise<void> {
  const name = text(options, 'endpoint');
  const endpoint = name === '' ? undefined : context.section('httppost', name);
  if (name !== '' && endpoint === undefined)
    throw new InvalidRequest(`unknown endpoint ${JSON.stringify(name)}`);
  const url = text(options, 'url') || (endpoint === undefined ? '' : text(endpoint, 'url'));
  if (url === '') throw new InvalidRequest('either URL or endpoint must be non-empty');
  const scope = { ...templateScope(event), Data: JSON.parse(printDataJson(event.data)) as unknown };
  const template = endpoint === undefined ? '' : bodyTemplate(endpoint, 'alert');
  const response = await context.http.send(
    {
      method: 'POST',
      url: url.includes('{{') ? context.render(url, scope) : url,
      headers: {
        ...(template === '' ? { 'Content-Type': 'application/json' } : {}),
        ...(endpoint === undefined ? {} : map(endpoint, 'headers')),
        ...basicAuth(endpoint),
        ...map(options, 'headers'),
      },
      body: template === '' ? `${printEventJson(event)}\n` : context.render(template, scope),
      timeoutMs: durationMs(options, 'timeout') || undefined,
      tls: { isVerificationSkipped: flag(options, 'skip-ssl-verification') },
    },
    context.signal,
  );
  if (response.status >= 200 && response.status <= 299) return;
  const detail = flag(options, 'capture-response')
    ? `: ${response.body.trim().slice(0, 1000)}`
    : '';
  throw refusal(response.status, `POST returned non 2xx status code: ${response.status}${detail}`);
}

/**
 * The template of an endpoint's body, '' when there is none. Throws `InvalidRequest` when its file
 * can not be read.
 */
export function bodyTemplate(endpoint: Options, kind: 'alert' | 'row'): string {
  const path = text(endpoint, `${kind}-template-file`);
  if (path === '') return text(endpoint, `${kind}-template`);
  try {
    // Read for each event, so that the file may be changed; it is small and in the system's memory.
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InvalidRequest(`cannot read ${kind}-template-file. file=\`${path}\``, { cause });
  }
}

function basicAuth(endpoint: Options | undefined): Record<string, string> {
  if (endpoint === undefined) return {};
  const { username, password } = map(endpoint, 'basic-auth');
  if (username === undefined || username === '') return {};
  const credentials = Buffer.from(`${username}:${password ?? ''}`).toString('base64');
  return { Authorization: `Basic ${credentials}` };
}
