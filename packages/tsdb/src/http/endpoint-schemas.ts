// Parameters of the endpoints, for the API document.
import { Type } from '@sinclair/typebox';
import type { TObject, TSchema } from '@sinclair/typebox';

type EndpointSchema = {
  readonly querystring?: TObject | undefined;
  /** The body of POST and PUT. */
  readonly body?: TSchema | undefined;
  readonly consumes?: string[] | undefined;
};

const text = (description: string) => Type.Optional(Type.String({ description }));

const lines = {
  body: Type.String({ description: 'points in line protocol, one a line' }),
  consumes: ['text/plain'],
};
const json = (fields: TObject) => ({ body: fields, consumes: ['application/json'] });
const remote = (what: string) => ({
  body: Type.String({ description: `${what} of Prometheus: protobuf in a snappy block` }),
  consumes: ['application/x-protobuf'],
});

const credentials = { u: text('user name'), p: text('password') };

const PRECISION = 'unit of timestamps: ns, u, ms, s, m, h; default ns';

/** Keyed by path. Endpoints without an entry have no parameters. */
export const ENDPOINT_SCHEMAS: Readonly<Record<string, EndpointSchema>> = {
  '/write': {
    querystring: Type.Object({
      db: Type.String({ description: 'target database' }),
      rp: text('target retention policy; default: that of the database'),
      precision: text(PRECISION),
      consistency: text('any, one, quorum or all; accepted and without effect'),
      errors: text('`detailed` lists every rejected line'),
      notify: text('`false`: subscriptions, and so tasks, do not get these points'),
      ...credentials,
    }),
    ...lines,
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
      diagnostics: text('`true`: findings about the statements, beside their results'),
      ...credentials,
    }),
    body: Type.Object(
      { q: text('statements'), params: text('as in the URL'), async: text('as in the URL') },
      { description: 'parameters may be here instead of in the URL' },
    ),
    consumes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
  },
  '/ping': { querystring: Type.Object({ verbose: text('`true`: answer 200 with the version') }) },
  '/api/audit': {
    querystring: Type.Object({
      before: text('only entries before this time (RFC 3339)'),
      user: text('only entries of this user'),
      text: text('only entries with this text anywhere'),
      limit: Type.Optional(
        Type.Integer({
          description: 'number of entries, newest first',
          default: 100,
          maximum: 1000,
        }),
      ),
    }),
  },
  '/debug/requests': {
    querystring: Type.Object({
      seconds: Type.Optional(
        Type.Integer({ description: 'how long to count', default: 10, maximum: 21_600 }),
      ),
    }),
  },
  '/debug/rejected': {
    querystring: Type.Object({
      source: text('only lines of this source'),
      database: text('only lines for this database'),
      limit: Type.Optional(
        Type.Integer({ description: 'number of entries, newest first', minimum: 0 }),
      ),
    }),
  },
  '/api/restore': {
    querystring: Type.Object({
      database: text('only this database of the backup (POST, to begin)'),
      as: text('its name here (POST, to begin)'),
      id: text('of the restore: PUT sends a piece, POST finishes, DELETE cancels'),
    }),
  },
  '/api/tokens': {
    querystring: Type.Object({ name: text('token to revoke (DELETE)') }),
    ...json(
      Type.Object({
        name: Type.String(),
        user: Type.String({ description: 'the user it belongs to' }),
        expiresIn: text('duration such as 720h; default: never'),
      }),
    ),
  },
  '/api/identity': json(
    Type.Object({
      authorization: Type.String({ description: 'the header that the other service was sent' }),
      address: Type.String({ description: 'of its client: failures count for that address' }),
    }),
  ),
  '/api/documents': {
    querystring: Type.Object({
      kind: Type.String({ description: '`dashboards`, or `queries`, which are personal' }),
      id: text('of one document; without it GET lists all'),
      version: text(
        'GET: an older version; PUT, DELETE: the version that is changed, 0 for a new document',
      ),
    }),
    ...json(
      Type.Object({
        title: Type.String(),
        content: Type.Any({ description: 'content, interpreted by the application only' }),
      }),
    ),
  },
  '/api/continuous-queries/run': json(
    Type.Object({
      database: Type.String(),
      name: Type.String(),
      start: Type.String({ format: 'date-time' }),
      end: Type.String({ format: 'date-time' }),
    }),
  ),
  '/debug/loglevel': json(
    Type.Object({
      level: Type.Union(
        ['debug', 'info', 'warn', 'error', 'off'].map((level) => Type.Literal(level)),
      ),
    }),
  ),
  '/debug/pprof/profile': {
    querystring: Type.Object({
      seconds: Type.Optional(Type.Number({ default: 10, maximum: 300 })),
    }),
  },
  '/api/v1/prom/write': {
    querystring: Type.Object({ db: Type.String(), rp: text('target retention policy') }),
    ...remote('WriteRequest'),
  },
  '/api/v1/prom/read': {
    querystring: Type.Object({ db: Type.String(), rp: text('retention policy to read') }),
    ...remote('ReadRequest'),
  },
  '/api/v2/write': {
    querystring: Type.Object({
      bucket: Type.String({ description: '`database/policy`, or `database`' }),
      org: text('ignored'),
      precision: text('unit of timestamps: ns, us, ms, s; default ns'),
    }),
    ...lines,
  },
};
