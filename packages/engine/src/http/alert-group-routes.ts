// The groups of an alert node of a running task, with their levels. Preview only.
import { formatRfc3339, InvalidRequest, NotFound } from '@tidemark/core';
import type { AlertGroup } from '@tidemark/runtime';
import { readPage, readPattern } from '../formats/params.ts';
import type { Executor } from '../tasks/executor.ts';
import type { Api } from './api.ts';

export function addAlertGroupRoutes(api: Api, executor: Executor): void {
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
    const isWhole = request.query.get('pattern') === '';
    const matching = isWhole ? found.groups : found.groups.filter(({ group }) => matches(group));
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: request.url },
        total: isWhole ? found.total : matching.length,
        groups: matching.slice(offset, offset + limit).map(groupView),
      },
    };
  });
}

function groupView({ since, lastEvent, isFlapping, ...rest }: AlertGroup): object {
  return {
    ...rest,
    flapping: isFlapping,
    ...(since === undefined ? {} : { since: formatRfc3339(since) }),
    ...(lastEvent === undefined ? {} : { 'last-event': formatRfc3339(lastEvent) }),
  };
}
