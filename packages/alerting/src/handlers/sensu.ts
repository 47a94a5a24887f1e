// sensu: results for a Sensu client socket.
import { sensuHandler } from '@tidemark/pipeline';
import { InvalidRequest, Unavailable } from '@tidemark/core';
import { defineSection, enabled, list, requireWhenEnabled, str, texts } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver, templateScope } from '../handler.ts';
import { parseLevel } from '../level.ts';
import { enabledSection } from './service.ts';
import { exchangeLine } from './tcp.ts';

const NAME = /^[\w.-]+$/;

const section = defineSection({
  name: 'sensu',
  doc: 'Sensu.',
  options: {
    ...enabled(),
    addr: str('Client socket, host:port.'),
    source: str('Source when a handler names none.', 'Kapacitor'),
    handlers: list('Handlers when a handler names none.'),
  },
  validate: (options) => requireWhenEnabled(options, { addr: 'must specify sensu client address' }),
});

const STATUSES: Readonly<Record<string, number>> = { OK: 0, INFO: 0, WARNING: 1, CRITICAL: 2 };

export const sensu = deliver(sensuHandler, {
  section,
  send: (event, options, context) => {
    const source = options.source;
    return send(context, {
      name: event.id,
      source: source === '' ? '' : context.render(source, templateScope(event)),
      output: event.message,
      status: STATUSES[event.level] ?? 2,
      handlers: options.handlers ?? [],
      metadata: { ...(options['metadata'] as object) },
    });
  },
  tests: [
    defineTest({
      name: 'sensu',
      configured: ['source', 'handlers'],
      options: {
        name: str('Name of the check.', 'testName'),
        source: str('Source.'),
        output: str('Text.', 'testOutput'),
        handlers: list('Handlers.', []),
        metadata: texts('Further members.', {}),
        level: str('Level.', 'CRITICAL'),
      },
      run: (options, context) => {
        const level = parseLevel(options.level);
        if (level === undefined) throw new InvalidRequest('unknown alert level');
        return send(context, {
          name: options.name,
          source: options.source,
          output: options.output,
          status: STATUSES[level] ?? 2,
          handlers: options.handlers ?? [],
          metadata: options.metadata ?? {},
        });
      },
    }),
  ],
});

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
  const config = enabledSection(context, section);
  if (!NAME.test(result.name)) {
    throw new InvalidRequest(
      `invalid name ${JSON.stringify(result.name)} for sensu alert. Must match ${NAME.source}`,
    );
  }
  const handlers = result.handlers.length > 0 ? result.handlers : (config.handlers ?? []);
  const body = {
    ...result.metadata,
    name: result.name,
    source: result.source || config.source,
    output: result.output,
    status: result.status,
    ...(handlers.length > 0 ? { handlers } : {}),
  };
  const answer = await exchangeLine(config.addr, JSON.stringify(body), context.signal);
  if (answer.trim() !== 'ok')
    throw new Unavailable(`sensu socket error: ${answer.trim().slice(0, 500)}`);
}
