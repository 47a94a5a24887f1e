// Endpoints of the service itself: ping, routes, statistics, and reloading files.
import { METRICS_TYPE } from '@tidemark/core';
import { openApiDocument } from './openapi.ts';
import type { ApiResponse } from './api.ts';
import type { HttpServer } from './server.ts';

export type ServiceRoutesOptions = {
  readonly debugVars: () => Promise<unknown>;
  readonly metrics: () => Promise<string>;
  /** Reads the load directory and sideload sources again. */
  readonly reload: () => Promise<void>;
  readonly reloadSideloads: () => Promise<void>;
  readonly relinkSubscriptions: () => Promise<void>;
};

const DONE: ApiResponse = { status: 204 };

export function addServiceRoutes(server: HttpServer, options: ServiceRoutesOptions): void {
  server.on('GET', '/ping', () => {
    server.counters.ping_req++;
    return DONE;
  });
  server.onRoot('GET', '/ping', () => DONE);
  server.on('GET', '/:routes', () => {
    // The router escapes a literal colon by doubling it; clients do not.
    const paths = Object.entries(server.routes()).map(([path, methods]) => [
      path.replace('::', ':'),
      methods,
    ]);
    return { status: 200, json: Object.fromEntries(paths) as object };
  });
  server.onRoot('GET', '/openapi.json', () => ({
    status: 200,
    json: openApiDocument(server.routes()),
  }));
  server.on('GET', '/debug/vars', async () => ({ status: 200, json: await options.debugVars() }));
  server.onRoot('GET', '/debug/vars', async () => ({
    status: 200,
    json: await options.debugVars(),
  }));
  server.onRoot('GET', '/metrics', async () => ({
    status: 200,
    text: await options.metrics(),
    contentType: METRICS_TYPE,
  }));
  server.on('POST', '/load/reload', async () => {
    await options.reload();
    return DONE;
  });
  server.on('POST', '/sideload/reload', async () => {
    await options.reloadSideloads();
    return DONE;
  });
  server.on('POST', '/subscriptions', async () => {
    await options.relinkSubscriptions();
    return DONE;
  });
}
