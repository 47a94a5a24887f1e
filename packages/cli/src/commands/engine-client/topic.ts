// `tidemark topic …` and `tidemark handler …`: events and their receivers.
import { printLossless } from '@tidemark/client';
import type { EngineClient, Handler } from '@tidemark/client';
import { NotFound } from '@tidemark/core';
import { Command } from 'commander';

import { UsageError } from '../../exit.ts';
import { formatTable, print, printJson } from '../../output/table.ts';
import { clientCommand, engineClient, minLevelOption, readDocument } from './context.ts';
import type { ClientFlags, Finish } from './context.ts';
import { eachIdCommand, forEachId, reportIds } from './each-id.ts';

/** `tidemark topic list|show|delete`. */
export function topicCommand(finish: Finish): Command {
  const group = new Command('topic').description('Show alert topics and their events.');
  group.addCommand(
    clientCommand('list', 'List topics.')
      .argument('[pattern]', 'shell glob on ids')
      .addOption(minLevelOption('only topics at or above this level'))
      .action(async (pattern: string | undefined, flags: ClientFlags & { minLevel?: string }) => {
        const topics = await engineClient(flags).topics({ pattern, minLevel: flags.minLevel });
        if (flags.json === true) {
          printJson(topics);
          return;
        }
        print(
          formatTable(
            [
              { title: 'ID', value: (topic) => topic.id },
              { title: 'Level', value: (topic) => topic.level },
              { title: 'Collected', value: (topic) => topic.collected, isRightAligned: true },
            ],
            topics,
          ),
        );
      }),
  );
  group.addCommand(
    clientCommand('show', 'Show a topic with its handlers and events.')
      .argument('<id>')
      .addOption(minLevelOption('only events at or above this level'))
      .action(async (id: string, flags: ClientFlags & { minLevel?: string }) => {
        const client = engineClient(flags);
        const [topic, handlers, events] = await Promise.all([
          client.topic(id),
          client.handlers(id),
          client.events(id, flags.minLevel),
        ]);
        if (flags.json === true) {
          printJson({ ...topic, handlers, events });
          return;
        }
        print(`ID: ${topic.id}\nLevel: ${topic.level}\nCollected: ${topic.collected}`);
        print(`Handlers: [${handlers.map((handler) => handler.id).join(', ')}]\nEvents:`);
        print(
          formatTable(
            [
              { title: 'Event', value: (event) => event.id },
              { title: 'Level', value: (event) => event.state.level },
              { title: 'Message', value: (event) => event.state.message },
              { title: 'Date', value: (event) => event.state.time },
            ],
            events,
          ),
        );
      }),
  );
  group.addCommand(
    eachIdCommand('delete', 'Delete topics with all their events.', finish, {
      noun: 'topic',
      list: async (client, pattern) => (await client.topics({ pattern })).map(({ id }) => id),
      act: (client, id) => client.deleteTopic(id),
    }),
  );
  return group;
}

/** `tidemark handler define|list|show|delete`. */
export function handlerCommand(finish: Finish): Command {
  const group = new Command('handler').description(
    'Define what happens with the events of a topic.',
  );
  group.addCommand(
    clientCommand(
      'define',
      'Create or replace a handler from a JSON or YAML file with topic, id and actions (or kind and options).',
    )
      .argument('<file>')
      .action(async (file: string, flags: ClientFlags) => {
        const { topic, id, ...handler } = await readDocument(file);
        if (typeof topic !== 'string' || typeof id !== 'string')
          throw new UsageError(`${file} must name a topic and an id`);
        const { handler: defined } = await defineHandler(engineClient(flags), topic, {
          ...handler,
          id,
        });
        warnOfHandler(defined);
        if (flags.json === true) printJson(defined);
        else print(`defined ${defined.id} on ${topic}`);
      }),
  );
  group.addCommand(
    clientCommand('list', 'List the handlers of all topics, or of those that match.')
      .argument('[pattern]', 'shell glob on topics')
      .action(async (pattern: string | undefined, flags: ClientFlags) => {
        const client = engineClient(flags);
        const rows: { topic: string; id: string; kind: string; warnings: readonly string[] }[] = [];
        for (const topic of await client.topics({ pattern })) {
          for (const handler of await client.handlers(topic.id)) {
            rows.push({
              topic: topic.id,
              id: handler.id,
              kind: handler.kind ?? (handler.actions ?? []).map((action) => action.kind).join(','),
              warnings: (handler.warnings ?? []).map(({ message }) => message),
            });
          }
        }
        if (flags.json === true) printJson(rows);
        else
          print(
            formatTable(
              [
                { title: 'Topic', value: (row) => row.topic },
                { title: 'ID', value: (row) => row.id },
                { title: 'Kind', value: (row) => row.kind },
                { title: 'Warning', value: (row) => row.warnings.join('; ') },
              ],
              rows,
            ),
          );
      }),
  );
  group.addCommand(
    clientCommand('show', 'Show a handler.')
      .argument('<topic>')
      .argument('<id>')
      .action(async (topic: string, id: string, flags: ClientFlags) => {
        const handler = await engineClient(flags).handler(topic, id);
        if (flags.json === true) printJson(handler);
        else print(describeHandler(topic, handler));
      }),
  );
  group.addCommand(
    clientCommand('delete', 'Delete handlers of a topic.')
      .argument('<topic>')
      .argument('<id...>', 'ids or shell globs')
      .action(async (topic: string, given: readonly string[], flags: ClientFlags) => {
        const client = engineClient(flags);
        const ids = await forEachId(given, {
          list: async (pattern) => (await client.handlers(topic, pattern)).map(({ id }) => id),
          act: (id) => client.deleteHandler(topic, id),
        });
        reportIds(ids, { given, noun: 'handler', flags, finish });
      }),
  );
  return group;
}

/** Reports what keeps a handler from delivering: defining it succeeds all the same. */
function warnOfHandler({ warnings = [] }: Handler): void {
  for (const { message, hint } of warnings) process.stderr.write(`tidemark: ${message}; ${hint}\n`);
}

function describeHandler(topic: string, handler: Handler): string {
  const { id, kind, match = '', options = {}, actions = [], warnings = [] } = handler;
  const does =
    kind === undefined
      ? actions.map((action) => `Action: ${action.kind} ${printLossless(action.options ?? {})}`)
      : [`Kind: ${kind}`];
  return [
    `ID: ${id}`,
    `Topic: ${topic}`,
    ...does,
    `Match: ${match}`,
    ...(kind === undefined ? [] : [`Options: ${printLossless(options)}`]),
    ...warnings.map(({ message, hint }) => `Warning: ${message}; ${hint}`),
  ].join('\n');
}

/** Replaces a handler, or creates it. */
export async function defineHandler(
  client: EngineClient,
  topic: string,
  handler: Handler & { readonly id: string },
): Promise<{ readonly handler: Handler; readonly isNew: boolean }> {
  try {
    return { handler: await client.replaceHandler(topic, handler.id, handler), isNew: false };
  } catch (error) {
    // Absent: this is its first definition.
    if (!(error instanceof NotFound)) throw error;
    return { handler: await client.createHandler(topic, handler), isNew: true };
  }
}
