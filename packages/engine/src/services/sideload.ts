// Sideload sources: directories of YAML and JSON documents, or one JSON document of paths fetched
// over HTTP. A source that several tasks use is read once; `reload` reads all sources in use again.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidRequest, messageOf } from '@tidemark/core';
import type { HttpClient, SideloadSources, SideloadTree } from '@tidemark/runtime';
import type { HostedSideloadSources, HostedSideloadTree } from '@tidemark/runtime/host';
import type { AccessPolicy, HttpSender } from '@tidemark/settings';
import { parseJson } from '../formats/json.ts';
import { parseYamlScalars } from '../formats/yaml.ts';
import type { YamlScalar as Value } from '../formats/yaml.ts';

type Documents = ReadonlyMap<string, ReadonlyMap<string, Value>>;
type Source = {
  documents: Documents;
  useCount: number;
  readonly followers: Set<(documents: Documents) => void>;
};

/** Bounds of one source: what a mistaken path such as `/` would otherwise read. */
const FILES_MAX = 100_000;
const HTTP_BYTES_MAX = 64 * 1024 * 1024;

export type SideloadOptions = {
  readonly http: HttpSender;
  /** Configured `[[httppost]]` endpoints, which may be named as a source. */
  readonly endpoint: HttpClient['endpoint'];
  readonly access: AccessPolicy;
};

export class Sideloads implements SideloadSources, HostedSideloadSources {
  readonly #options: SideloadOptions;
  readonly #sources = new Map<string, Source>();

  constructor(options: SideloadOptions) {
    this.#options = options;
  }

  async open(name: string): Promise<SideloadTree & HostedSideloadTree> {
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = { documents: await this.#read(name), useCount: 0, followers: new Set() };
      this.#sources.set(name, source);
    }
    const opened = source;
    opened.useCount++;
    let isOpen = true;
    let follower: ((documents: Documents) => void) | undefined;
    return {
      follow: (listener) => {
        follower = listener;
        opened.followers.add(listener);
        listener(opened.documents);
      },
      lookup: (path, key) => opened.documents.get(path)?.get(key),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        if (follower !== undefined) opened.followers.delete(follower);
        opened.useCount--;
        if (opened.useCount === 0) this.#sources.delete(name);
      },
    };
  }

  /**
   * Reads all sources that are in use again. One that cannot be read keeps its data; then this
   * rejects.
   */
  async reload(): Promise<void> {
    let failure: unknown;
    for (const [name, source] of this.#sources) {
      try {
        source.documents = await this.#read(name);
        for (const follow of source.followers) follow(source.documents);
      } catch (error) {
        // The others are still read.
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  #read(name: string): Promise<Documents> {
    if (name.startsWith('file://')) return this.#readDirectory(fileURLToPath(name));
    if (/^https?:\/\//.test(name)) return this.#fetch(name, {});
    const endpoint = this.#options.endpoint(name);
    if (endpoint !== undefined) return this.#fetch(endpoint.url, endpoint.headers);
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(name)?.[1] ?? '';
    throw new InvalidRequest(`unsupported source scheme ${JSON.stringify(scheme)}, must be 'file'`);
  }

  async #readDirectory(root: string): Promise<Documents> {
    const refused = this.#options.access.refuseFile(root);
    if (refused !== undefined) throw new InvalidRequest(refused);
    const failed = `failed to update sideload cache for source ${JSON.stringify(root)}: `;
    const documents = new Map<string, ReadonlyMap<string, Value>>();
    try {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      if (entries.length > FILES_MAX) throw new Error(`more than ${FILES_MAX} files`);
      for (const entry of entries) {
        if (!entry.isFile() || !/\.(ya?ml|json)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const text = await readFile(path, 'utf8');
        const values = path.endsWith('.json')
          ? valuesOf(parseJson(Buffer.from(text), ''))
          : parseYamlScalars(text);
        documents.set(relative(root, path).split(sep).join('/'), values);
      }
    } catch (cause) {
      throw new InvalidRequest(failed + messageOf(cause), { cause });
    }
    return documents;
  }

  async #fetch(url: string, headers: Readonly<Record<string, string>>): Promise<Documents> {
    const failed = `failed to update sideload cache for source ${JSON.stringify(url)}: `;
    const response = await this.#options.http.send(
      { method: 'GET', url, headers, responseBytesMax: HTTP_BYTES_MAX },
      new AbortController().signal,
    );
    if (response.status !== 200) throw new InvalidRequest(`${failed}status ${response.status}`);
    const value = parseJson(Buffer.from(response.body), failed);
    if (value === null || typeof value !== 'object')
      throw new InvalidRequest(`${failed}not an object`);
    return new Map(Object.entries(value).map(([path, document]) => [path, valuesOf(document)]));
  }
}

function valuesOf(document: unknown): ReadonlyMap<string, Value> {
  if (document === null || typeof document !== 'object') return new Map();
  const values = new Map<string, Value>();
  for (const [key, value] of Object.entries(document)) {
    if (['string', 'number', 'bigint', 'boolean'].includes(typeof value))
      values.set(key, value as Value);
  }
  return values;
}
