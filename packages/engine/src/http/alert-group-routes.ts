// The groups of an alert node of a running task, with their levels and last events. Preview only.
import { formatRfc3339, InvalidRequest, NotFound } from '@tidemark/core';
import type { AlertService } from '@tidemark/alerting';
import type { AlertGroup } from '@tidemark/runtime';
import { readPage, readPattern } from '../formats/params.ts';
import type { Executor } from '../tasks/executor.ts';
import type { Api } from './api.ts';

export type AlertGroupRoutesOptions = {
  readonly executor: Executor;
  readonly alerts: AlertService;
};

export function addAlertGroupRoutes(api: Api, { executor, alerts }: AlertGroupRoutesOptions): void {
  api.onPreview('GET', '/alerts/groups/:id/:node', async (request) => {
    const { id = '', node = '' } = request.params;
    const executing = executor.running(id);
    if (executing === undefined) throw new NotFound(`task ${JSON.stringify(id)} is not running`);
    await request.data.requireRead(executing.databases);
    const { offset, limit } = readPage(request.query);
    const matches = readPattern(request.query);
    const found = await executing.task.alertGroups(node);
    if (found === undefined) {
      throw new InvalidRequest(
        `task ${JSON.stringify(id)} has no alert node ${JSON.stringify(node)}`,
      );
    }
    // The topic may have a message of another task for the same id.
    const databasesOf = (topic: string): readonly string[] => alerts.databasesOf(topic);
    const [topic] = await request.data.readable([found.topic], databasesOf);
    const isWhole = request.query.get('pattern') === '';
    const matching = isWhole ? found.groups : found.groups.filter(({ group }) => matches(group));
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: request.url },
        total: isWhole ? found.total : matching.length,
        groups: matching.slice(offset, offset + limit).map((group) => ({
          ...groupView(group),
          ...eventView(group, topic, alerts),
        })),
      },
    };
  });
}

/** The id of a group's last event, and its message, unless the topic has forgotten it. */
function eventView({ event }: AlertGroup, topic: string | undefined, alerts: AlertService): object {
  if (event === undefined) return {};
  if (topic === undefined) return { event };
  const isKnown = alerts.eventState(topic, event) !== undefined;
  return { event, ...(isKnown ? { message: alerts.event(topic, event).message } : {}) };
}

function groupView({ since, lastEvent, isFlapping, event: _, ...rest }: AlertGroup): object {
  return {
    ...rest,
    flapping: isFlapping,
    ...(since === undefined ? {} : { since: formatRfc3339(since) }),
    ...(lastEvent === undefined ? {} : { 'last-event': formatRfc3339(lastEvent) }),
  };
}
