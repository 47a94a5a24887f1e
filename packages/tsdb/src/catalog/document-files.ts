// Documents on disk: a file for each, in two copies and replaced with every change, beside the
// catalog (docs/formats/catalog.md).
import { Corruption, messageOf, Unavailable } from '@tidemark/core';
import type { DocumentRecord, DocumentRecords, DocumentStore } from '@tidemark/core';
import { nodeDisk, readCheckedFile, writeCheckedFile } from '@tidemark/storage';
import type { StorageLog } from '@tidemark/storage-api';

const FORMAT = { magic: 'TDMDOC', version: 2 };
const SUFFIX = '.tdm';

/** The documents of a service, and its files for them, of which there are none on a cluster. */
export type KeptDocuments = { readonly files: DocumentFiles; readonly store: DocumentStore };

export class DocumentFiles implements DocumentRecords {
  readonly #folder: string;
  readonly #log: StorageLog;
  readonly #disk = nodeDisk();

  /** The folder is created with the first document. */
  constructor(folder: string, log: StorageLog) {
    this.#folder = folder;
    this.#log = log;
  }

  /** All readable documents. One that is damaged in both copies is moved aside and logged. */
  *values(): Iterable<DocumentRecord> {
    for (const name of this.#disk.list(this.#folder)) {
      const path = `${this.#folder}/${name}`;
      if (!name.endsWith(SUFFIX)) continue;
      try {
        const record = readDocument(path);
        if (record !== undefined) yield record;
      } catch (error) {
        if (!(error instanceof Corruption)) throw error;
        this.#disk.rename(path, `${path}.damaged`);
        this.#log('error', 'a document cannot be read; its file is set aside', {
          file: `${path}.damaged`,
          reason: error.reason,
        });
      }
    }
  }

  get(key: string): DocumentRecord | undefined {
    return readDocument(this.#pathOf(key));
  }

  async put(key: string, record: DocumentRecord): Promise<void> {
    await changing(async () => {
      this.#disk.makeDirectory(this.#folder);
      const body = Buffer.from(JSON.stringify(record));
      await writeCheckedFile(this.#pathOf(key), { format: FORMAT, body });
    });
  }

  async remove(key: string): Promise<void> {
    await changing(async () => {
      this.#disk.remove(this.#pathOf(key));
      await this.#disk.syncDirectory(this.#folder);
    });
  }

  /** A folder beside it for documents that are being received, which are not visible there. */
  arriving(): DocumentFiles {
    return new DocumentFiles(`${this.#folder}.arriving`, this.#log);
  }

  /** Removes all of them. */
  clear(): void {
    this.#disk.removeDirectory(this.#folder);
  }

  #pathOf(key: string): string {
    return `${this.#folder}/${key}${SUFFIX}`;
  }
}

async function changing(change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (cause) {
    throw new Unavailable(`the document cannot be written: ${messageOf(cause)}`, { cause });
  }
}

function readDocument(path: string): DocumentRecord | undefined {
  const stored = readCheckedFile(path, FORMAT);
  if (stored === undefined) return undefined;
  // The checksum is right, so this is the written text.
  return JSON.parse(Buffer.from(stored.body).toString('utf8')) as DocumentRecord;
}
