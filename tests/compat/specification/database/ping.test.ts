// The section “GET /ping and HEAD /ping” of the specification of the database's HTTP API.
import { expect } from 'vitest';

import { sentences, SOME, useDatabase, VERSION } from './harness.ts';

useDatabase();

const BOTH = ['GET', 'HEAD'].map((method) => ({ of: method, method, path: '/ping', status: 204 }));

sentences('GET /ping and HEAD /ping', [
  ['No parameters.', BOTH],
  ['Response: 204 with an empty body.', BOTH.map((asked) => ({ ...asked, answer: '' }))],
  [
    'The version of the service is in the response header `X-Tsdb-Version`.',
    BOTH.map((asked) => ({ ...asked, answerHeaders: { 'x-tsdb-version': VERSION } })),
  ],
  [
    'Other headers: `Content-Type: application/json`, `Request-Id`, `Date`.',
    BOTH.map((asked) => ({
      ...asked,
      answerHeaders: {
        'content-type': 'application/json',
        'request-id': SOME,
        date: expect.stringMatching(/GMT$/),
      },
    })),
  ],
]);
