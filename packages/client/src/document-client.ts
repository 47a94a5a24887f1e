// Documents of a service: dashboards, statements. Both services have the same calls.
import type { DocumentKind, DocumentSummary, StoredDocument } from '@tidemark/core';

import type { HttpConnection } from './http.ts';

export class DocumentClient {
  readonly #http: HttpConnection;
  readonly #path: string;

  constructor(http: HttpConnection, path: string) {
    this.#http = http;
    this.#path = path;
  }

  /** All of a kind, by title. */
  async list(kind: DocumentKind, signal?: AbortSignal): Promise<readonly DocumentSummary[]> {
    const { documents } = await this.#http.json<{ readonly documents: readonly DocumentSummary[] }>(
      this.#path,
      { search: { kind }, signal },
    );
    return documents;
  }

  /** A document, or an older version of it. Throws `NotFound`. */
  get(
    kind: DocumentKind,
    id: string,
    options: { readonly version?: number | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<StoredDocument> {
    const { version, signal } = options;
    return this.#http.json(this.#path, { search: { kind, id, version }, signal });
  }

  /**
   * Stores a new version in place of `replaces`, 0 for a new document. Throws `Conflict` when
   * another change came first.
   */
  put(
    kind: DocumentKind,
    id: string,
    change: { readonly replaces: number; readonly title: string; readonly content: unknown },
  ): Promise<DocumentSummary> {
    const { replaces, ...json } = change;
    const search = { kind, id, version: replaces };
    return this.#http.json(this.#path, { method: 'PUT', search, json });
  }

  /** Removes a document in a given version. Throws like `put`. */
  async remove(kind: DocumentKind, id: string, version: number): Promise<void> {
    await this.#http.send(this.#path, { method: 'DELETE', search: { kind, id, version } });
  }
}
