// sensu: results for a Sensu client socket.
import { InvalidRequest, Unavailable } from '@tidemark/core';
import {
  map,
  strings,
  text,
  enabled,
  list,
  requireWhenEnabled,
  str,
  template,
} from '@tidemark/settings';
import type { SectionSpec } from '@tidemark/settings';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection } from './service.ts';
import { exchangeLine } from './tcp.ts';

const NAME = /^[\w.-]+$/;

const section: SectionSpec = {
  name: 'sensu',
  doc: 'Sensu.',
  options: [
    enabled(),
    str('addr', 'Client socket, host:port.'),
    str('source', 'Source when a handler names none.', 'Kapacitor'),
    list('handlers', 'Handlers when a handler names none.'),
  ],
  validate: (options) => requireWhenEnabled(options, { addr: 'must specify sensu client address' }),
};

const STATUSES: Readonly<Record<string, number>> = { OK: 0, INFO: 0, WARNING: 1, CRITICAL: 2 };

export const sensu: HandlerKind = {
  kind: 'sensu',
  doc: 'Sends a result to Sensu.',
  options: [
    template('source', 'Template of the source; empty is the configured one.'),
    list('handlers', 'Handlers; none means the configured ones.'),
    { name: 'metadata', type: 'json', default: {}, doc: 'Further members of the result.' },
  ],
  section,
  send: (event, options, context) => {
    const source = text(options, 'source');
    return send(context, {
      name: event.id,
      source: source === '' ? '' : context.render(source, templateScope(event)),
      output: event.message,
      status: STATUSES[event.level] ?? 2,
      handlers: strings(options, 'handlers'),
      metadata: { ...(options['metadata'] as object) },
    });
  },
  tests: [
    {
      name: 'sensu',
      configured: ['source', 'handlers'],
      options: [
        str('name', 'Name of the check.', 'testName'),
        str('source', 'Source.'),
        str('output', 'Text.', 'testOutput'),
        list('handlers', 'Handlers.', []),
        { name: 'metadata', type: 'string-map', default: {}, doc: 'Further members.' },
        str('level', 'Level.', 'CRITICAL'),
      ],
      run: (options, context) => {
        const level = parseLevel(text(options, 'level'));
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return send(context, {
          name: text(options, 'name'),
          source: text(options, 'source'),
          output: text(options, 'output'),
          status: STATUSES[level] ?? 2,
          handlers: strings(options, 'handlers'),
          metadata: map(options, 'metadata'),
        });
      },
    },
  ],
};

async function send(
  context: HandlerContext,
  result: {
    readonly name: string;
    readonly source: string;
    readonly output: string;
    readonly status: number;
    readonly handlers: readonly string[];
    readonly metadata: object;
  },
): Promise<void> {
  const config = enabledSection(context, 'sensu');
  if (!NAME.test(result.name)) {
    throw new InvalidRequest(
      `invalid name ${JSON.stringify(result.name)} for sensu alert. Must match ${NAME.source}`,
    );
  }
  const handlers = result.handlers.length > 0 ? result.handlers : strings(config, 'handlers');
  const body = {
    ...result.metadata,
    name: result.name,
    source: result.source || text(config, 'source'),
    output: result.output,
    status: result.status,
    ...(handlers.length > 0 ? { handlers } : {}),
  };
  const answer = await exchangeLine(text(config, 'addr'), JSON.stringify(body), context.signal);
  if (answer.trim() !== 'ok')
    throw new Unavailable(`sensu socket error: ${answer.trim().slice(0, 500)}`);
}
