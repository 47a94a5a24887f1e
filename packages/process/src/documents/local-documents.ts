// The documents of a service that no other service changes, with their list entries in memory.
import { listedDocument } from '@tidemark/core';
import type {
  DocumentCheck,
  DocumentRecord,
  DocumentRecords,
  DocumentStore,
  ListedDocument,
} from '@tidemark/core';

import { documentKey } from './documents.ts';

export class LocalDocuments implements DocumentStore {
  readonly #records: DocumentRecords;
  /** By key; read on first use. */
  #read: Map<string, ListedDocument> | undefined;

  constructor(records: DocumentRecords) {
    this.#records = records;
  }

  list(): Iterable<ListedDocument> {
    return this.#listed.values();
  }

  get(key: string): Promise<DocumentRecord | undefined> {
    // One that could not be read is not listed.
    return Promise.resolve(this.#listed.has(key) ? this.#records.get(key) : undefined);
  }

  async put(key: string, record: DocumentRecord, check: DocumentCheck): Promise<void> {
    check(this.#listed.get(key)?.summary);
    await this.#records.put(key, record);
    this.#listed.set(key, listedDocument(record));
  }

  async remove(key: string, check: DocumentCheck): Promise<void> {
    check(this.#listed.get(key)?.summary);
    await this.#records.remove(key);
    this.#listed.delete(key);
  }

  get #listed(): Map<string, ListedDocument> {
    this.#read ??= new Map(
      Array.from(this.#records.values(), (record) => [documentKey(record), listedDocument(record)]),
    );
    return this.#read;
  }
}
