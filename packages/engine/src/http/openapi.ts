// The API's description in OpenAPI 3.1, generated from the registered routes, so that none is
// missing.
import { TIDEMARK_VERSION } from '@tidemark/core';
import { requestSchema, RESOURCE_SCHEMAS, responseSchema } from './openapi-schemas.ts';
import { queryParametersOf } from './query-parameters.ts';
import type { QueryParameter } from './query-parameters.ts';
import { BASE, PREVIEW } from './routes.ts';

type Operation = Readonly<Record<string, unknown>>;

/** Paths with their methods, from `RouteTable.list`, as a document. */
export function openApiDocument(
  routes: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [pattern, methods] of Object.entries(routes)) {
    const { path, parameters } = templateOf(pattern);
    const item: Record<string, Operation> = (paths[path] ??= {});
    for (const method of methods) {
      const query = queryParametersOf(method, pattern);
      item[method.toLowerCase()] = operation(method, path, { path: parameters, query });
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidemark engine',
      version: TIDEMARK_VERSION,
      description: `Stable endpoints are under ${BASE} and, too, under ${PREVIEW}.`,
    },
    paths,
    components: {
      schemas: {
        ...RESOURCE_SCHEMAS,
        Error: {
          type: 'object',
          required: ['error'],
          properties: { error: { type: 'string', description: 'The error, in one sentence.' } },
        },
      },
    },
  };
}

/** `/tasks/:id/*` → `/tasks/{id}/{rest}`. In patterns of the router `::` is a literal colon. */
function templateOf(pattern: string): {
  readonly path: string;
  readonly parameters: readonly string[];
} {
  const parameters: string[] = [];
  const path = pattern
    .split('/')
    .map((segment) => {
      if (segment.startsWith('::')) return segment.slice(1);
      if (!segment.startsWith(':') && segment !== '*') return segment;
      const name = segment === '*' ? 'rest' : segment.slice(1);
      parameters.push(name);
      return `{${name}}`;
    })
    .join('/');
  return { path, parameters };
}

function operation(
  method: string,
  path: string,
  parameters: { readonly path: readonly string[]; readonly query: readonly QueryParameter[] },
): Operation {
  return {
    operationId: `${method.toLowerCase()} ${path}`.match(/[A-Za-z0-9]+/g)?.join('_'),
    tags: [tagOf(path)],
    parameters: [
      ...parameters.path.map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...parameters.query.map(({ name, description, ...schema }) => ({
        name,
        in: 'query',
        required: false,
        description,
        schema,
      })),
    ],
    ...(method === 'POST' || method === 'PATCH' || method === 'PUT'
      ? { requestBody: { content: { [contentType(path)]: body(requestSchema(method, path)) } } }
      : {}),
    responses: {
      '2XX': done(responseSchema(method, path)),
      default: {
        description: 'Refused or failed.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function body(schema: object | undefined): object {
  return schema === undefined ? {} : { schema };
}

function done(schema: object | undefined): object {
  const description = 'Done.';
  return schema === undefined
    ? { description }
    : { description, content: { 'application/json': { schema } } };
}

function contentType(path: string): string {
  return path.endsWith('/write') ? 'text/plain' : 'application/json';
}

/** The resource: the first segment below the base path. */
function tagOf(path: string): string {
  for (const base of [PREVIEW, BASE]) {
    if (path.startsWith(`${base}/`)) return path.slice(base.length + 1).split('/')[0] ?? '';
  }
  return 'service';
}
