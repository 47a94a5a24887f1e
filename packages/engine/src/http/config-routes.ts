// Endpoints of configuration overrides.
import { InvalidRequest, NotFound } from '@tidemark/core';
import type { ConfigOverrides } from '../config/config-overrides.ts';
import type { ConfigUpdate } from '../config/override-change.ts';
import { describeSection } from '../config/section-views.ts';
import type { ElementView } from '../config/section-views.ts';
import { OVERRIDABLE_SECTIONS } from '../config/overridable-sections.ts';
import { asObject, parseJson } from '../formats/json.ts';
import { isKapacitorPath, pathTo } from './routes.ts';
import type { Api, ApiRequest, ApiResponse } from './api.ts';

export function addConfigRoutes(api: Api, config: ConfigOverrides): void {
  // If overrides are disabled, nothing else about the request is checked.
  const on: Api['on'] = (method, path, handler) =>
    api.on(method, path, (request) => {
      config.requireEnabled();
      return handler(request);
    });
  on('GET', '/config', (request) => {
    const sections = OVERRIDABLE_SECTIONS.map((section) => [
      section.name,
      described(request, config, section.name),
    ]);
    return {
      status: 200,
      json: {
        link: { rel: 'self', href: `${request.base}/config` },
        sections: Object.fromEntries(sections) as object,
      },
    };
  });
  on('GET', '/config/', () => {
    throw new InvalidRequest("section not specified, do you have an extra trailing '/'?");
  });
  on('GET', '/config/:section', (request) => {
    const section = request.params['section'] ?? '';
    return { status: 200, json: described(request, config, section) };
  });
  // An element's name may contain a slash; the empty name is the one element of a section that is
  // no list.
  on('GET', '/config/:section/*', (request) => {
    const section = request.params['section'] ?? '';
    const element = request.params['*'] ?? '';
    const found = config.view(section).find((view) => view.element === element);
    if (found === undefined) throw new NotFound(`unknown section/element: ${section}/${element}`);
    return { status: 200, json: elementView(request, section, found) };
  });

  const nameless = (): ApiResponse => {
    throw new InvalidRequest(
      'failed to apply update: invalid update action: must provide section name',
    );
  };
  on('POST', '/config', nameless);
  on('POST', '/config/', nameless);
  on('POST', '/config/:section', async (request) => {
    const section = request.params['section'] ?? '';
    const update = readUpdate(request.body);
    await config.update({ section }, update, request);
    return changed(request, section, config);
  });
  on('POST', '/config/:section/*', async (request) => {
    const section = request.params['section'] ?? '';
    const element = request.params['*'] ?? '';
    await config.update({ section, element }, readUpdate(request.body), request);
    return changed(request, section, config);
  });
}

/** Kapacitor's Go client accepts only 204 for a change. */
function changed(request: ApiRequest, section: string, config: ConfigOverrides): ApiResponse {
  if (isKapacitorPath(request)) return { status: 204 };
  return { status: 200, json: sectionView(request, section, config.view(section)) };
}

const UPDATE_KEYS: readonly string[] = ['set', 'delete', 'add', 'remove'];

function readUpdate(body: Uint8Array): ConfigUpdate {
  const value = parseJson(body, 'invalid JSON: ');
  const object = asObject(value, 'invalid JSON: expected an object');
  const unknown = Object.keys(object).find((name) => !UPDATE_KEYS.includes(name));
  if (unknown !== undefined) {
    throw new InvalidRequest(
      `a change has no member ${JSON.stringify(unknown)}; it may have ${UPDATE_KEYS.join(', ')}`,
    );
  }
  return {
    set: optional(object['set'], readMap),
    delete: optional(object['delete'], readNames),
    add: optional(object['add'], readMap),
    remove: optional(object['remove'], readNames),
  };
}

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

function readMap(value: unknown): Readonly<Record<string, unknown>> {
  return asObject(value, 'set and add must be objects of options by their names');
}

function readNames(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new InvalidRequest('delete and remove must be lists of names');
}

/** A section; with `describe`, also the meaning of its options and the origin of their values. */
function described(request: ApiRequest, config: ConfigOverrides, section: string): object {
  const views = config.view(section);
  const plain = sectionView(request, section, views);
  if (request.query.get('describe') !== 'true') return plain;
  const elements = views.map((view) => ({
    ...elementView(request, section, view),
    element: view.element,
    ...config.origin(section, view.element),
  }));
  return { ...plain, elements, description: describeSection(section) };
}

function sectionView(request: ApiRequest, section: string, views: readonly ElementView[]): object {
  return {
    link: { rel: 'self', href: pathTo(`${request.base}/config`, section) },
    elements: views.map((view) => elementView(request, section, view)),
  };
}

function elementView(request: ApiRequest, section: string, view: ElementView): object {
  return {
    link: { rel: 'self', href: pathTo(`${request.base}/config`, section, view.element) },
    options: view.options,
    redacted: view.redacted,
  };
}
