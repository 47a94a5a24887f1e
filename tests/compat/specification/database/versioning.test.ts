// The section “Versioning” of the specification of the database's HTTP API.
import { query, sentences, useDatabase, VERSION } from './harness.ts';

useDatabase();

const answerHeaders = { 'x-tsdb-version': VERSION };

sentences('Versioning', [
  [
    'The service version is returned in the `X-Tsdb-Version` header on responses, with a value of the form `<major>.<minor>.<patch>`.',
    [
      { of: 'a ping', path: '/ping', status: 204, answerHeaders },
      { of: 'a query', path: query('SHOW DATABASES'), status: 200, answerHeaders },
      {
        of: 'a write',
        method: 'POST',
        path: '/write?db=d',
        body: 'm f=1',
        status: 204,
        answerHeaders,
      },
      { of: 'an error', path: '/query', status: 400, answerHeaders },
    ],
  ],
  [
    'Paths are unversioned.',
    ['/ping', '/query', '/write'].map((path) => ({ of: path, path: `/v1${path}`, status: 404 })),
  ],
]);
