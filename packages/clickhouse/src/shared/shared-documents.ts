// Documents that all front ends share. The text of a document is a row of a table that is the same
// on every node; the shared log has the id of the row and the document's entry in lists
// (docs/adr/0018-documents.md).
import { randomUUID } from 'node:crypto';

import { listedDocument, Unavailable } from '@tidemark/core';
import type {
  Clock,
  DocumentCheck,
  DocumentRecord,
  DocumentStore,
  ListedDocument,
} from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

import type { Cluster } from '../cluster/cluster.ts';
import { LIMITS } from '../limits.ts';
import { FailureLog } from '../periodic-job.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader, RowWriter } from '../sql/row-binary.ts';
import { DOCUMENTS_TABLE } from '../sql/tables.ts';
import type { StoredDocument } from './entries.ts';
import type { SharedState } from './shared-state.ts';

export type SharedDocumentsParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly clock: Clock;
  readonly log: StorageLog;
};

export class SharedDocuments implements DocumentStore {
  readonly #parts: SharedDocumentsParts;

  constructor(parts: SharedDocumentsParts) {
    this.#parts = parts;
  }

  *list(): Iterable<ListedDocument> {
    for (const { listed } of this.#parts.state.documents.values()) yield listed;
  }

  async get(key: string): Promise<DocumentRecord | undefined> {
    const { state, clock } = this.#parts;
    const until = clock.monotonicMs() + LIMITS.insertMs.value;
    for (;;) {
      await state.sync();
      const stored = state.documents.get(key);
      if (stored === undefined) return undefined;
      const text = await this.#textOf(key, stored.row);
      if (text !== undefined) return JSON.parse(text) as DocumentRecord;
      // The replica lags behind, or the document has changed meanwhile.
      if (clock.monotonicMs() > until)
        throw new Unavailable(`no replica of the cluster has the document \`${key}\``);
      await clock.sleep(POLL_MS);
    }
  }

  async put(key: string, record: DocumentRecord, check: DocumentCheck): Promise<void> {
    const row = randomUUID();
    await this.#insert(key, row, JSON.stringify(record));
    try {
      await this.#change(key, check, { row, listed: listedDocument(record) });
    } catch (error) {
      // When the cluster is unavailable, the change may have been agreed on after all.
      if (!(error instanceof Unavailable)) await this.#forget(key, row);
      throw error;
    }
  }

  async remove(key: string, check: DocumentCheck): Promise<void> {
    await this.#change(key, check, undefined);
  }

  async #change(
    key: string,
    check: DocumentCheck,
    stored: StoredDocument | undefined,
  ): Promise<void> {
    const { state } = this.#parts;
    await state.sync();
    let before: string | undefined;
    await state.agree(() => {
      const present = state.documents.get(key);
      check(present?.listed.summary);
      before = present?.row;
      return { kind: 'document', key, stored };
    });
    if (before !== undefined) await this.#forget(key, before);
  }

  async #insert(key: string, row: string, text: string): Promise<void> {
    const { cluster } = this.#parts;
    const rows = new RowWriter();
    for (const each of [key, row, text]) rows.text(each);
    const into = `${cluster.table(DOCUMENTS_TABLE)} (document, row, text) FORMAT RowBinary`;
    await cluster.insert('all nodes', { into, rows: rows.finish() });
  }

  async #textOf(key: string, row: string): Promise<string | undefined> {
    const { cluster } = this.#parts;
    const reader = new RowReader(
      await cluster.rowsOfAny(
        `SELECT text FROM ${cluster.table(DOCUMENTS_TABLE)} WHERE ${whichRow(key, row)}`,
      ),
    );
    return reader.hasMore ? reader.text() : undefined;
  }

  async #forget(key: string, row: string): Promise<void> {
    try {
      await this.#parts.cluster.startDelete('all nodes', DOCUMENTS_TABLE, whichRow(key, row));
    } catch (error) {
      // The change has succeeded; an unused row only takes space.
      new FailureLog(this.#parts.log, 'remove a row that no document names').failed(error);
    }
  }
}

const whichRow = (key: string, row: string): string =>
  `document = ${sqlText(key)} AND row = ${sqlText(row)}`;

/** Pause between reads of a row that a replica does not have yet. */
const POLL_MS = 50;
