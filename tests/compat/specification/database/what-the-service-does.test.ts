// The section “What the service does” of the specification of the database's HTTP API.
import { removeDirectory, send, startTidemark } from '@tidemark/testkit';
import { resolveConfig } from '@tidemark/settings';
import { TSDB_CONFIG } from '@tidemark/tsdb';
import { expect } from 'vitest';

import { oneSeries, query, sentences, useDatabase, VERSION } from './harness.ts';

useDatabase();

const db = { db: 'd', epoch: 'ns' };
const point = [['POST', '/write?db=d', 'm f=1 1']] as const;
const answer = oneSeries('m', ['time', 'f'], [[1, 1]]);

sentences('What the service does', [
  [
    'The service is a time-series database with an HTTP API.',
    [{ before: point, path: query('SELECT f FROM m', db), status: 200, answer }],
  ],
  [
    'Clients write points in a line-oriented text format (line protocol) into a database that already exists.',
    [
      { method: 'POST', path: '/write?db=d', body: 'm f=1 1\nm f=2 2', status: 204, answer: '' },
      { of: 'one that does not', method: 'POST', path: '/write?db=no', body: 'm f=1', status: 404 },
    ],
  ],
  [
    'Clients read data and manage databases, retention policies and users by sending statements of a SQL-like query language (the query language) to one endpoint.',
    ['CREATE DATABASE e', 'CREATE RETENTION POLICY r ON e DURATION 1d REPLICATION 1'].map((q) => ({
      of: q,
      method: 'POST',
      path: query(q),
      status: 200,
      answer: { results: [{ statement_id: 0 }] },
    })),
  ],
  [
    'Clients can check that the service is up and read its version.',
    [{ path: '/ping', status: 204, answerHeaders: { 'x-tsdb-version': VERSION } }],
  ],
  [
    'Clients can read per-user, per-address counts of recent writes and queries.',
    [{ path: '/debug/requests?seconds=1', status: 200 }],
  ],
  [
    'Responses are JSON, except that query results can optionally be returned as CSV.',
    [
      {
        of: 'JSON',
        path: query('SHOW DATABASES'),
        status: 200,
        answerHeaders: { 'content-type': 'application/json' },
      },
      {
        of: 'CSV',
        before: point,
        path: query('SELECT f FROM m LIMIT 1', db),
        headers: { Accept: 'application/csv' },
        status: 200,
        answer: 'name,tags,time,f\nm,,1,1\n',
        answerHeaders: { 'content-type': 'application/csv' },
      },
    ],
  ],
  [
    [
      'The service is assumed to listen on host {base_url}, default port 8086, with HTTPS disabled.',
      'Address, port and HTTPS are configurable.',
    ],
    async () => {
      const { bindAddress, httpsEnabled } = resolveConfig(TSDB_CONFIG, []).config.http;
      expect([bindAddress, httpsEnabled]).toEqual(['127.0.0.1:8086', false]);
      const other = await startTidemark({ command: 'tsdb', args: ['--bind', '127.0.0.2:0'] });
      try {
        expect(new URL(other.tsdb).hostname).toBe('127.0.0.2');
        expect((await send(`${other.tsdb}/ping`, { method: 'GET' })).status).toBe(204);
      } finally {
        await other.stop();
        await removeDirectory(other.directory);
      }
    },
  ],
  [
    'Authentication is optional (see Authentication).',
    [{ path: query('SHOW USERS'), status: 200 }],
  ],
]);
