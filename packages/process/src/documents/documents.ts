// The documents of a service: one change after the other, each only on the version that its author
// has seen.
import { createHash } from 'node:crypto';

import {
  DOCUMENT_KINDS,
  DOCUMENT_LIMITS,
  formatRfc3339,
  InvalidRequest,
  NotFound,
  StaleVersion,
} from '@tidemark/core';
import type {
  Clock,
  DocumentKind,
  DocumentRecord,
  DocumentRecords,
  DocumentSummary,
  StoredDocument,
  VersionSummary,
} from '@tidemark/core';

/** Which document, for whom. */
export type DocumentName = {
  readonly kind: DocumentKind;
  readonly id: string;
  /** Name of the user who asks; empty where nobody has to say who they are. */
  readonly user: string;
};

export type DocumentChange = {
  /** The version that it replaces; 0 for a document that is not there yet. */
  readonly replaces: number;
  readonly title: string;
  readonly content: unknown;
};

type Listed = { readonly owner: string; readonly summary: DocumentSummary };

export class Documents {
  readonly #records: DocumentRecords;
  readonly #clock: Clock;
  readonly #listed = new Map<string, Listed>();
  #tail: Promise<unknown> = Promise.resolve();

  /** Reads what there is. */
  constructor(records: DocumentRecords, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
    for (const record of records.values()) this.#list(record);
  }

  /** Documents of a kind that a user may see, by title. */
  list(kind: DocumentKind, user: string): readonly DocumentSummary[] {
    const owner = ownerOf(kind, user);
    return [...this.#listed.values()]
      .filter((one) => one.summary.kind === kind && one.owner === owner)
      .map(({ summary }) => summary)
      .toSorted((a, b) => a.title.localeCompare(b.title) || (a.id < b.id ? -1 : 1));
  }

  /** A document as it is, or in an older version. Throws `NotFound`. */
  get(name: DocumentName, version?: number): StoredDocument {
    const record = this.#record(name);
    const found =
      version === undefined
        ? record.versions.at(-1)
        : record.versions.find((each) => each.version === version);
    if (found === undefined) {
      throw new NotFound(`${describe(name)} has no version ${version} any more`);
    }
    const { kind, id, versions } = record;
    const newestFirst = versions.toReversed().map(summaryOf);
    return { kind, id, ...found, versions: newestFirst };
  }

  /**
   * Stores a new version; resolves when it is on disk. Throws `StaleVersion` when somebody else was
   * first, `InvalidRequest` when it is larger than what is kept.
   */
  put(name: DocumentName, change: DocumentChange): Promise<DocumentSummary> {
    return this.#inTurn(async () => {
      const key = keyOf(name);
      const before = this.#records.get(key);
      requireVersion(name, change.replaces, before);
      if (before === undefined) this.#requireRoom(name);
      const version = {
        version: change.replaces + 1,
        title: change.title,
        modified: formatRfc3339(this.#clock.now()),
        by: name.user,
        content: change.content,
      };
      const record: DocumentRecord = {
        kind: name.kind,
        owner: ownerOf(name.kind, name.user),
        id: name.id,
        versions: withinLimits([...(before?.versions ?? []), version]),
      };
      await this.#records.put(key, record);
      return this.#list(record);
    });
  }

  /** Removes a document with all its versions. Throws as `put`, and `NotFound`. */
  remove(name: DocumentName, version: number): Promise<void> {
    return this.#inTurn(async () => {
      requireVersion(name, version, this.#record(name));
      const key = keyOf(name);
      await this.#records.remove(key);
      this.#listed.delete(key);
    });
  }

  /**
   * Takes a document in from a backup with all its versions; resolves to whether it did: one that
   * is there stays. Throws as `put`.
   */
  adopt(record: DocumentRecord): Promise<boolean> {
    return this.#inTurn(async () => {
      const name = { kind: record.kind, id: record.id, user: record.owner };
      const key = keyOf(name);
      if (this.#listed.has(key)) return false;
      this.#requireRoom(name);
      await this.#records.put(key, record);
      this.#list(record);
      return true;
    });
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(change);
    // The caller gets the error; the next change must still run.
    this.#tail = result.catch(() => undefined);
    return result;
  }

  #record(name: DocumentName): DocumentRecord {
    const record = this.#records.get(keyOf(name));
    if (record === undefined) throw new NotFound(`${describe(name)} does not exist`);
    return record;
  }

  #list(record: DocumentRecord): DocumentSummary {
    const { kind, id, owner, versions } = record;
    const [newest] = versions.slice(-1).map(summaryOf);
    if (newest === undefined) throw new Error('a document has a version');
    const summary = { kind, id, ...newest };
    this.#listed.set(keyOf({ kind, id, user: owner }), { owner, summary });
    return summary;
  }

  #requireRoom({ kind, user }: DocumentName): void {
    const { value: countMax } = DOCUMENT_LIMITS.documentCount;
    if (this.list(kind, user).length < countMax) return;
    throw new InvalidRequest(`there are ${countMax} ${kind} already: delete some first`);
  }
}

function ownerOf(kind: DocumentKind, user: string): string {
  return DOCUMENT_KINDS[kind].isPersonal ? user : '';
}

/** As short whatever names are, and fit for a file's name. */
function keyOf({ kind, id, user }: DocumentName): string {
  const name = JSON.stringify([kind, ownerOf(kind, user), id]);
  return createHash('sha256').update(name).digest('hex');
}

const describe = ({ kind, id }: DocumentName): string => `${JSON.stringify(id)} of ${kind}`;

function summaryOf({ version, title, modified, by }: VersionSummary): VersionSummary {
  return { version, title, modified, by };
}

function requireVersion(
  name: DocumentName,
  replaced: number,
  record: DocumentRecord | undefined,
): void {
  const present = record?.versions.at(-1);
  if ((present?.version ?? 0) === replaced) return;
  if (present === undefined) {
    throw new StaleVersion(`${describe(name)} was deleted meanwhile: version 0 stores it anew`);
  }
  const author = present.by === '' ? '' : ` by ${present.by}`;
  throw new StaleVersion(
    replaced === 0
      ? `${describe(name)} exists already, in version ${present.version}`
      : `${describe(name)} was changed meanwhile${author}: it is at version ${present.version}, not ${replaced}`,
  );
}

/** The newest versions, as many as are kept. */
function withinLimits(versions: DocumentRecord['versions']): DocumentRecord['versions'] {
  const { versionCount, versionsBytes } = DOCUMENT_LIMITS;
  let first = Math.max(0, versions.length - versionCount.value);
  const sizes = versions.map(({ content }) => JSON.stringify(content).length);
  let total = sizes.slice(first).reduce((sum, size) => sum + size, 0);
  while (total > versionsBytes.value && first < versions.length - 1) total -= sizes[first++] ?? 0;
  return versions.slice(first);
}
