// Documents of the web application in backups: each is an attachment, with all its versions.
import { DOCUMENT_KINDS, messageOf, own } from '@tidemark/core';
import type { DocumentRecord } from '@tidemark/core';
import type { Documents } from '@tidemark/process';

import type { DocumentFiles } from '../catalog/document-files.ts';
import { notRestorable } from './metadata.ts';

/** The files of documents, and the documents that clients see. */
export type DocumentPlaces = { readonly files: DocumentFiles; readonly all: Documents };

/** The documents of a full backup. */
export function* documentAttachments(files: DocumentFiles): Generator<Uint8Array> {
  for (const document of files.values()) yield Buffer.from(JSON.stringify({ document }));
}

export type AdoptedDocuments = {
  readonly count: number;
  /** Titles of documents that could not be stored, with the reason. */
  readonly leftOut: readonly string[];
};

/**
 * Documents that are being received. They wait on disk, because together they may be large, until
 * everything else of the backup is there.
 */
export class ArrivingDocuments {
  readonly #documents: Documents;
  readonly #files: DocumentFiles;
  #count = 0;

  constructor({ files, all }: DocumentPlaces) {
    this.#documents = all;
    this.#files = files.arriving();
    // Left over from a crash.
    this.#files.clear();
  }

  /** Throws `Corruption` for anything that `documentAttachments` did not make. */
  async take(attachments: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const bytes of attachments) {
      await this.#files.put(String(this.#count++), documentOf(bytes));
    }
  }

  /** Makes them visible; existing documents stay as they are. */
  async adopt(): Promise<AdoptedDocuments> {
    const leftOut: string[] = [];
    let count = 0;
    for (const record of this.#files.values()) {
      try {
        if (await this.#documents.adopt(record)) count++;
      } catch (error) {
        // The points are restored: report what is missing.
        leftOut.push(`${record.kind} ${record.id}: ${messageOf(error)}`);
      }
    }
    return { count, leftOut };
  }

  close(): void {
    this.#files.clear();
  }
}

function documentOf(bytes: Uint8Array): DocumentRecord {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (error) {
    throw notRestorable(`a document is not understood: ${messageOf(error)}`);
  }
  const { document } = (json ?? {}) as { readonly document?: Partial<DocumentRecord> };
  const { kind = '', owner, id, versions = [] } = document ?? {};
  const isDocument =
    own(DOCUMENT_KINDS, kind) !== undefined &&
    typeof owner === 'string' &&
    typeof id === 'string' &&
    Array.isArray(versions) &&
    versions.length > 0 &&
    versions.every(({ version, title }) => Number.isInteger(version) && typeof title === 'string');
  if (!isDocument) throw notRestorable('a document is not understood');
  return document as DocumentRecord;
}
