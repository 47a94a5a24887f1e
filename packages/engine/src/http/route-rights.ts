// The right that each endpoint needs when authentication is on. An endpoint that changes something
// is for admins unless it has a row here; an endpoint that reads must have a row, or it cannot be
// registered.
import type { RouteRight } from '../access/request.ts';
import { assert } from '@tidemark/core';
import type { ApiMethod } from './api.ts';
import { BASE, PREVIEW } from './routes.ts';

const ALERTS = `${PREVIEW}/alerts`;

export const ROUTE_RIGHTS: Readonly<Record<string, RouteRight>> = {
  'POST /write': 'write',
  [`POST ${BASE}/write`]: 'write',
  'GET /health': 'open',
  'GET /health/live': 'open',
  'GET /ping': 'ping',
  [`GET ${BASE}/ping`]: 'ping',
  'GET /openapi.json': 'grant',
  [`GET ${BASE}/:routes`]: 'grant',
  'GET /metrics': 'statistics',
  'GET /debug/vars': 'statistics',
  [`GET ${BASE}/debug/vars`]: 'statistics',
  [`GET ${BASE}/tasks`]: 'data',
  [`GET ${BASE}/tasks/:id`]: 'data',
  [`GET ${BASE}/tasks/:id/*`]: 'data',
  [`GET ${BASE}/task-versions/:id`]: 'grant',
  [`GET ${BASE}/taps/:id/:node`]: 'data',
  [`GET ${BASE}/templates`]: 'grant',
  [`GET ${BASE}/templates/:id`]: 'grant',
  [`GET ${BASE}/recordings`]: 'data',
  [`GET ${BASE}/recordings/:id`]: 'data',
  [`GET ${BASE}/replays`]: 'data',
  [`GET ${BASE}/replays/`]: 'data',
  [`GET ${BASE}/replays/:id`]: 'data',
  [`GET ${PREVIEW}/logs`]: 'data',
  [`GET ${ALERTS}/topics`]: 'data',
  [`GET ${ALERTS}/topics/:topic`]: 'data',
  [`GET ${ALERTS}/topics/:topic/events`]: 'data',
  [`GET ${ALERTS}/topics/:topic/events/*`]: 'data',
  [`GET ${ALERTS}/topics/:topic/handlers`]: 'grant',
  [`GET ${ALERTS}/topics/:topic/handlers/:handler`]: 'grant',
  [`GET ${ALERTS}/topics/:topic/handlers/:handler/state`]: 'data',
  [`GET ${ALERTS}/groups/:id/:node`]: 'data',
  [`GET ${ALERTS}/history`]: 'data',
  [`GET ${ALERTS}/dead-letters`]: 'data',
  [`GET ${BASE}/config`]: 'grant',
  [`GET ${BASE}/config/`]: 'grant',
  [`GET ${BASE}/config/:section`]: 'grant',
  [`GET ${BASE}/config/:section/*`]: 'grant',
  [`GET ${BASE}/service-tests`]: 'grant',
  [`GET ${BASE}/service-tests/:service`]: 'grant',
  [`GET ${BASE}/storage/stores`]: 'grant',
  [`GET ${BASE}/storage/stores/:store`]: 'grant',
  [`GET ${BASE}/cluster/members`]: 'grant',
  [`GET ${BASE}/cluster/tasks`]: 'grant',
  [`GET ${BASE}/documents`]: 'documents',
  [`PUT ${BASE}/documents`]: 'documents',
  [`DELETE ${BASE}/documents`]: 'documents',
  // Backups contain every stored secret; the audit record shows who did what.
  [`GET ${BASE}/storage/backup`]: 'admin',
  [`GET ${BASE}/storage/restore`]: 'grant',
  [`GET ${BASE}/audit`]: 'admin',
  [`GET ${BASE}/debug/pprof/`]: 'admin',
  [`GET ${BASE}/debug/pprof/cmdline`]: 'admin',
  [`GET ${BASE}/debug/pprof/goroutine`]: 'admin',
  [`GET ${BASE}/debug/pprof/heap`]: 'admin',
  [`GET ${BASE}/debug/pprof/profile`]: 'admin',
};

/** `path` is the pattern under which the endpoint is registered. */
export function rightOf(method: ApiMethod, path: string): RouteRight {
  const right = ROUTE_RIGHTS[`${method} ${path}`];
  assert(right !== undefined || method !== 'GET', `an endpoint that reads has a right: ${path}`);
  return right ?? 'admin';
}
