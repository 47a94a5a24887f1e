// The API document is complete and valid.
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { ENDPOINTS, OPENAPI_ENDPOINT } from './endpoints.ts';

type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: object;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: object }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
};
type Document = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly securitySchemes: object };
};

let service: TestService;
let document: Document;
let operations: (readonly [name: string, operation: Operation])[];
beforeAll(async () => {
  service = await startTestService();
  document = (await service.get('/openapi.json')).json;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => [`${method} ${path}`, one] as const),
  );
});
afterAll(() => service.close());

test("it is valid by the OpenAPI initiative's schema", async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
});

test('every method of every endpoint is in it, and nothing else', () => {
  const expected = [...ENDPOINTS, OPENAPI_ENDPOINT].flatMap(({ path, methods }) =>
    // HEAD goes without saying where there is GET.
    methods.flatMap((method) => (method === 'HEAD' ? [] : [`${method.toLowerCase()} ${path}`])),
  );
  expect(operations.map(([name]) => name).toSorted()).toEqual(expected.toSorted());
});

test('the document meets the OpenAPI specification', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect([document.info.title, document.info.version]).toEqual([
    expect.stringMatching(/./),
    expect.stringMatching(/^\d+\.\d+\.\d+$/),
  ]);
  expect(JSON.stringify(document)).not.toContain('"$ref"');
  const schemes = Object.keys(document.components.securitySchemes);
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [name, { parameters = [], requestBody, responses, security }] of operations) {
    const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(new Set(names).size, name).toBe(names.length);
    for (const parameter of parameters) {
      expect([parameter.in, typeof parameter.schema], name).toEqual(['query', 'object']);
    }
    expect(Object.keys(responses).length, name).toBeGreaterThan(0);
    for (const [status, { description }] of Object.entries(responses)) {
      expect([status, description], name).toEqual([
        expect.stringMatching(/^([1-5](\d\d|XX)|default)$/),
        expect.any(String),
      ]);
    }
    for (const one of security) {
      for (const scheme of Object.keys(one)) expect(schemes, name).toContain(scheme);
    }
    for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
      expect([type, typeof schema], name).toEqual([
        expect.stringMatching(/^[a-z-]+\/[a-z-]+$/),
        'object',
      ]);
    }
  }
});

test.each(['/write', '/query', '/api/v2/write', '/api/tokens', '/debug/loglevel'])(
  'POST %s says what its body is',
  (path) => {
    expect(document.paths[path]?.['post']?.requestBody?.content).toBeDefined();
  },
);
