// Parameters of the endpoints, for the API document.
import { Type } from '@sinclair/typebox';
import type { TObject } from '@sinclair/typebox';

type EndpointSchema = { readonly querystring?: TObject | undefined };

const text = (description: string) => Type.Optional(Type.String({ description }));

const credentials = { u: text('user name'), p: text('password') };

const PRECISION = 'unit of timestamps: ns, u, ms, s, m, h; default ns';

/** By path. Endpoints without an entry have no parameters. */
export const ENDPOINT_SCHEMAS: Readonly<Record<string, EndpointSchema>> = {
  '/write': {
    querystring: Type.Object({
      db: Type.String({ description: 'target database' }),
      rp: text('target retention policy; default: that of the database'),
      precision: text(PRECISION),
      consistency: text('any, one, quorum or all; accepted and without effect'),
      errors: text('`detailed` lists every rejected line'),
      ...credentials,
    }),
  },
  '/query': {
    querystring: Type.Object({
      q: Type.String({ description: 'statements, separated by semicolons' }),
      db: text('database of statements that name none'),
      rp: text('retention policy of measurements that name none'),
      epoch: text('print times as integers: ns, u, µ, ms, s, m, h'),
      chunked: text('`true` or a number of rows: stream the answer, one document per chunk'),
      chunk_size: text('rows of a chunk with chunked=true; default 10000'),
      pretty: text('`true`: indented JSON'),
      params: text('JSON object with values of $placeholders'),
      async: text('`true`: answer 204 at once and discard the results'),
      ...credentials,
    }),
  },
  '/ping': { querystring: Type.Object({ verbose: text('`true`: answer 200 with the version') }) },
  '/debug/requests': {
    querystring: Type.Object({
      seconds: Type.Optional(
        Type.Integer({ description: 'how long to count', default: 10, maximum: 21_600 }),
      ),
    }),
  },
  '/api/tokens': { querystring: Type.Object({ name: text('token to revoke (DELETE)') }) },
  '/debug/pprof/profile': {
    querystring: Type.Object({
      seconds: Type.Optional(Type.Number({ default: 10, maximum: 300 })),
    }),
  },
  '/api/v1/prom/write': {
    querystring: Type.Object({ db: Type.String(), rp: text('target retention policy') }),
  },
  '/api/v1/prom/read': {
    querystring: Type.Object({ db: Type.String(), rp: text('retention policy to read') }),
  },
  '/api/v2/write': {
    querystring: Type.Object({
      bucket: Type.String({ description: '`database/policy`, or `database`' }),
      org: text('ignored'),
      precision: text('unit of timestamps: ns, us, ms, s; default ns'),
    }),
  },
};
