// Sentences of the specification of the database's HTTP API about itself and all paths.
import { startTidemark, removeDirectory, send } from '@tidemark/testkit';
import { expect } from 'vitest';

import { ask, baseUrl, query, sentences, useDatabase } from './harness.ts';

useDatabase();

sentences('Time-Series Database HTTP API', [
  [
    'This document covers the database service: health check, query and management endpoint, write endpoint and request tracking.',
    [
      { of: 'health check', path: '/ping', status: 204 },
      { of: 'query and management', path: query('SHOW DATABASES'), status: 200 },
      { of: 'write', method: 'POST', path: '/write?db=d', body: 'm f=1 1', status: 204 },
      { of: 'request tracking', path: '/debug/requests?seconds=1', status: 200 },
    ],
  ],
  [
    [
      'A second document covers the task-processing service (tasks, templates, recordings, replays, alerts, configuration, storage).',
      'The two services are independent and listen on different ports.',
    ],
    async () => {
      const both = await startTidemark();
      try {
        expect(new URL(both.tsdb).port).not.toBe(new URL(both.engine).port);
        const tasks = '/engine/v1/tasks';
        expect((await send(both.engine + tasks, { method: 'GET' })).status).toBe(200);
        expect((await send(both.tsdb + tasks, { method: 'GET' })).status).toBe(404);
        expect((await send(both.tsdb + '/ping', { method: 'GET' })).status).toBe(204);
      } finally {
        await both.stop();
        await removeDirectory(both.directory);
      }
    },
  ],
]);

sentences('Endpoints', [
  [
    'All paths are relative to {base_url}.',
    async () => {
      const { status } = await fetch(new URL('/ping', baseUrl()));
      expect(status).toBe(204);
      expect((await ask('GET', '/api/ping')).status).toBe(404);
    },
  ],
]);
