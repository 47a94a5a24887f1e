// Liveness: the process responds, whatever else does not work.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TIDEMARK_VERSION } from '@tidemark/core';
import type { Api } from './api.ts';
import { sendJson } from './send-json.ts';

const LIVE_PATH = '/health/live';

export function addLiveRoute(api: Api): void {
  api.onRoot('GET', LIVE_PATH, () => ({ status: 200, json: healthOf('pass', 'alive') }));
}

/** Answers a request for liveness outside the API; `false` for all others. */
export function answerLive(request: IncomingMessage, response: ServerResponse): boolean {
  const isGet = request.method === 'GET' || request.method === 'HEAD';
  if (!isGet || request.url?.split('?')[0] !== LIVE_PATH) return false;
  sendJson(response, 200, healthOf('pass', 'alive'));
  return true;
}

/** A state of health that needs no checks. */
export function healthOf(status: 'pass' | 'fail', message: string) {
  return { checks: [], message, name: 'tidemark-engine', status, version: TIDEMARK_VERSION };
}
