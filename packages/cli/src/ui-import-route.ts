// `/api/import` of the web application's server: the progress of the last import (GET), a new one
// (POST), cancelling one (DELETE). For admins of the target service.
import { AppError, InvalidRequest } from '@tidemark/core';
import { PAGE_KEY_HEADER } from '@tidemark/process';

import { readText, sendError, sendJson } from './ui-answer.ts';
import { parseImportRequest } from './ui-import.ts';
import type { ImportRequest, ImportTarget } from './ui-import.ts';
import type { Visit } from './ui-server.ts';

const BODY_BYTES_MAX = 100_000;
const ASK_TIMEOUT_MS = 10_000;

/** A resource of each service that only admins may read. */
const FOR_ADMINS = { tsdb: '/api/audit?limit=1', engine: '/engine/v1/audit?limit=1' } as const;

export async function serveImport(visit: Visit): Promise<void> {
  const { imports, request, response } = visit;
  const target = targetOf(visit);
  try {
    switch (request.method) {
      case 'GET':
        await requireAdmin(target, anyService(target));
        return sendJson(response, 200, { job: imports.view() ?? null });
      case 'POST': {
        // Users without the right must not make the server buffer a body.
        await requireAdmin(target, anyService(target));
        const wanted = parseImportRequest(await readText(request, BODY_BYTES_MAX));
        await requireAdmin(target, serviceOf(wanted.kind));
        return sendJson(response, 202, { job: imports.start(wanted, target) });
      }
      case 'DELETE':
        await requireAdmin(target, anyService(target));
        await imports.remove();
        return sendJson(response, 200, { job: imports.view() ?? null });
      default:
        return sendError(response, 405, 'only GET, POST and DELETE');
    }
  } catch (error) {
    if (error instanceof Refused) return sendError(response, error.status, error.message);
    if (!(error instanceof AppError)) throw error;
    sendError(response, error instanceof InvalidRequest ? 400 : 409, error.message);
  }
}

type Service = keyof typeof FOR_ADMINS;

const serviceOf = (kind: ImportRequest['kind']): Service =>
  kind === 'influxdb' ? 'tsdb' : 'engine';

const anyService = ({ tsdbUrl }: ImportTarget): Service =>
  tsdbUrl === undefined ? 'engine' : 'tsdb';

function targetOf({ options, sessions, request, clientAddress }: Visit): ImportTarget {
  const { tsdbUrl, engineUrl, pageKey } = options;
  const authorization =
    sessions.ofCall(request)?.authorization ?? request.headers.authorization ?? undefined;
  return { tsdbUrl, engineUrl, authorization, pageKey, clientAddress };
}

/** The service's own refusal. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function requireAdmin(target: ImportTarget, service: Service): Promise<void> {
  const base = service === 'tsdb' ? target.tsdbUrl : target.engineUrl;
  if (base === undefined) throw new Refused(502, 'this service is not run here');
  const { authorization, pageKey, clientAddress } = target;
  const answer = await fetch(base + FOR_ADMINS[service], {
    headers: {
      [PAGE_KEY_HEADER]: pageKey,
      'X-Forwarded-For': clientAddress,
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    },
    signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
  });
  const { error } = (await answer.json()) as { readonly error?: string };
  if (!answer.ok) throw new Refused(answer.status, error ?? 'refused');
}
