// The section “Task-Processing Service HTTP API” of the specification of the task engine's HTTP
// API, sentence by sentence.
import { expect } from 'vitest';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Task-Processing Service HTTP API', [
  [
    'This document covers the task-processing service: it runs tasks (scripts over streaming or batch data), keeps templates, recordings and replays, handles alert topics and handlers, exposes configuration overrides, storage operations and service tests.',
    async () => {
      const { json } = await get(':routes');
      for (const part of [
        'tasks',
        'templates',
        'recordings',
        'replays',
        'config',
        'service-tests',
      ]) {
        expect(json).toHaveProperty([`/engine/v1/${part}`]);
      }
      expect(json).toHaveProperty(['/engine/v1/storage/backup']);
      expect(json).toHaveProperty(['/engine/v1preview/alerts/topics']);
    },
  ],
  [
    'The first document covers the time-series database service that the task-processing service reads from and that shares the line-protocol write format.',
    async () => {
      const { json } = await get('config/tsdb');
      expect(json.elements[0].options.urls).toEqual([expect.stringMatching(/^http:/)]);
      expect((await call('POST', 'write?db=d&rp=r', 'm,t=x f=1 1')).status).toBe(204);
    },
  ],
]);
