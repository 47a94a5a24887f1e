// Endpoints of operators: storage and service tests.
import { Internal, InvalidRequest, NotFound, own } from '@tidemark/core';
import { Readable } from 'node:stream';
import { METADATA_FILE } from '../store/metadata-file.ts';
import type { Metadata } from '../store/metadata.ts';
import type { TableName } from '../store/tables.ts';
import type { ServiceTests, ServiceTestView } from './service-tests.ts';
import { asObject, parseJson } from '../formats/json.ts';
import { pickFields, readFields, readPage, readPattern } from '../formats/params.ts';
import { pathTo } from './routes.ts';
import type { Api, ApiRequest } from './api.ts';

/**
 * Names of stores that clients know. Their indexes are part of the file's trees, and therefore
 * always complete.
 */
const STORES: readonly TableName[] = [
  'tasks',
  'templates',
  'recordings',
  'replays',
  'handler-specs',
  'overrides',
  'load',
  'documents',
];
/** The name of the store of overrides in older clients. */
const STORE_ALIASES: Readonly<Record<string, TableName>> = { config: 'overrides' };

export function addOperationRoutes(
  api: Api,
  { metadata, tests }: { readonly metadata: Metadata; readonly tests: ServiceTests },
): void {
  addStorageRoutes(api, metadata);
  addServiceTestRoutes(api, tests);
}

function addStorageRoutes(api: Api, metadata: Metadata): void {
  api.on('GET', '/storage/backup', async () => {
    const bytes = await metadata.backup();
    return {
      status: 200,
      stream: Readable.from([bytes]),
      contentType: 'application/octet-stream',
      headers: {
        'Content-Disposition': `attachment; filename="${METADATA_FILE}"`,
        'Content-Length': String(bytes.length),
      },
    };
  });
  api.on('GET', '/storage/stores', (request) => ({
    status: 200,
    json: {
      link: { rel: 'self', href: `${request.base}/storage/stores` },
      storage: STORES.map((name) => storeView(request, name)),
    },
  }));
  api.on('GET', '/storage/stores/:store', (request) => ({
    status: 200,
    json: storeView(request, storeOf(request)),
  }));
  api.on('POST', '/storage/stores/:store', async (request) => {
    const store = storeOf(request);
    const prefix = 'failed to unmarshal storage action ';
    const { action } = asObject(parseJson(request.body, prefix), `${prefix}expected an object`);
    if (action !== 'rebuild') {
      throw new InvalidRequest(`${prefix}unknown StorageAction ${String(action ?? '')}`);
    }
    try {
      metadata.verify(store);
    } catch (cause) {
      throw new Internal('failed to rebuild', { cause });
    }
    return { status: 204 };
  });
}

/** The store that a path names. Throws `NotFound`. */
function storeOf(request: ApiRequest): TableName {
  const name = request.params['store'] ?? '';
  const store = own(STORE_ALIASES, name) ?? STORES.find((known) => known === name);
  if (store === undefined) throw new NotFound(`unknown storage ${JSON.stringify(name)}`);
  return store;
}

function storeView(request: ApiRequest, name: string): object {
  return { link: { rel: 'self', href: pathTo(`${request.base}/storage/stores`, name) }, name };
}

function addServiceTestRoutes(api: Api, tests: ServiceTests): void {
  api.on('GET', '/service-tests', (request) => {
    const matches = readPattern(request.query);
    const fields = readFields(request.query, ['options'], 'name');
    const { offset, limit } = readPage(request.query);
    const services = tests
      .list()
      .filter(({ name }) => matches(name))
      .slice(offset, offset + limit);
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: `${request.base}/service-tests` },
        services: services.map((test) => pickFields(testView(request, test), fields)),
      },
    };
  });
  api.on('GET', '/service-tests/:service', (request) => ({
    status: 200,
    json: testView(request, tests.get(request.params['service'] ?? '')),
  }));
  api.on('POST', '/service-tests/:service', async (request) => {
    const name = request.params['service'] ?? '';
    tests.get(name);
    const prefix = 'failed to decode JSON body:';
    const isEmpty = request.body.length === 0;
    const body = isEmpty
      ? {}
      : asObject(parseJson(request.body, prefix), `${prefix}expected an object`);
    return { status: 200, json: await tests.run(name, body) };
  });
}

function testView(request: ApiRequest, test: ServiceTestView): Readonly<Record<string, unknown>> {
  return {
    link: { rel: 'self', href: pathTo(`${request.base}/service-tests`, test.name) },
    name: test.name,
    options: test.options,
  };
}
