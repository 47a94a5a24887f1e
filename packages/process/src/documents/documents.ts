// The documents of a service: changes run one after another, each only on the version that its
// author has seen.
import { createHash } from 'node:crypto';

import {
  DOCUMENT_KINDS,
  DOCUMENT_LIMITS,
  formatRfc3339,
  InvalidRequest,
  listedDocument,
  NotFound,
  StaleVersion,
  versionSummary,
} from '@tidemark/core';
import type {
  Clock,
  DocumentKind,
  DocumentRecord,
  DocumentStore,
  DocumentSummary,
  StoredDocument,
} from '@tidemark/core';

/** A document and the user who accesses it. */
export type DocumentName = {
  readonly kind: DocumentKind;
  readonly id: string;
  /** Name of the user; empty without authentication. */
  readonly user: string;
};

export type DocumentChange = {
  /** The version that it replaces; 0 for a new document. */
  readonly replaces: number;
  readonly title: string;
  readonly content: unknown;
};

export class Documents {
  readonly #store: DocumentStore;
  readonly #clock: Clock;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(store: DocumentStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Documents of a kind that a user may see, by title. */
  list(kind: DocumentKind, user: string): readonly DocumentSummary[] {
    const owner = ownerOf(kind, user);
    return [...this.#store.list()]
      .filter((one) => one.summary.kind === kind && one.owner === owner)
      .map(({ summary }) => summary)
      .toSorted((a, b) => a.title.localeCompare(b.title) || (a.id < b.id ? -1 : 1));
  }

  /** A document in its present or an older version. Throws `NotFound`. */
  async get(name: DocumentName, version?: number): Promise<StoredDocument> {
    const record = await this.#store.get(keyOf(name));
    if (record === undefined) throw absent(name);
    const found =
      version === undefined
        ? record.versions.at(-1)
        : record.versions.find((each) => each.version === version);
    if (found === undefined) {
      throw new NotFound(`${describe(name)} has no version ${version} any more`);
    }
    const { kind, id, versions } = record;
    const newestFirst = versions.toReversed().map(versionSummary);
    return { kind, id, ...found, versions: newestFirst };
  }

  /**
   * Stores a new version; resolves when it is stored. Throws `StaleVersion` when the document has
   * changed meanwhile, `InvalidRequest` when it is too large.
   */
  put(name: DocumentName, change: DocumentChange): Promise<DocumentSummary> {
    return this.#inTurn(async () => {
      const key = keyOf(name);
      const before = await this.#store.get(key);
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
      // Checked when it is stored: the earlier versions must be those of the replaced document.
      await this.#store.put(key, record, (present) =>
        requireVersion(name, change.replaces, present),
      );
      return listedDocument(record).summary;
    });
  }

  /** Removes a document with all its versions. Throws as `put`, and `NotFound`. */
  remove(name: DocumentName, version: number): Promise<void> {
    return this.#inTurn(() =>
      this.#store.remove(keyOf(name), (present) => {
        if (present === undefined) throw absent(name);
        requireVersion(name, version, present);
      }),
    );
  }

  /**
   * Adds a document from a backup with all its versions; resolves with whether it did: an existing
   * one stays. Throws as `put`.
   */
  adopt(record: DocumentRecord): Promise<boolean> {
    return this.#inTurn(async () => {
      const name = { kind: record.kind, id: record.id, user: record.owner };
      const key = keyOf(name);
      if ((await this.#store.get(key)) !== undefined) return false;
      this.#requireRoom(name);
      await this.#store.put(key, record, (present) => requireVersion(name, 0, present));
      return true;
    });
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(change);
    // The caller gets the error; the next change must still run.
    this.#tail = result.catch(() => undefined);
    return result;
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

function keyOf({ kind, id, user }: DocumentName): string {
  return documentKey({ kind, id, owner: ownerOf(kind, user) });
}

/** Of fixed length for all names, and valid as a file name. */
export function documentKey({
  kind,
  owner,
  id,
}: Pick<DocumentRecord, 'kind' | 'owner' | 'id'>): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, owner, id]))
    .digest('hex');
}

function absent(name: DocumentName): NotFound {
  return new NotFound(`${describe(name)} does not exist`);
}

const describe = ({ kind, id }: DocumentName): string => `${JSON.stringify(id)} of ${kind}`;

function requireVersion(
  name: DocumentName,
  replaced: number,
  present: DocumentSummary | undefined,
): void {
  if ((present?.version ?? 0) === replaced) return;
  if (present === undefined) {
    throw new StaleVersion(`${describe(name)} was deleted meanwhile: version 0 stores it again`);
  }
  const author = present.by === '' ? '' : ` by ${present.by}`;
  throw new StaleVersion(
    replaced === 0
      ? `${describe(name)} exists already, in version ${present.version}`
      : `${describe(name)} was changed meanwhile${author}: it is at version ${present.version}, not ${replaced}`,
  );
}

/** The newest versions within the limit. */
function withinLimits(versions: DocumentRecord['versions']): DocumentRecord['versions'] {
  const { versionCount, versionsBytes } = DOCUMENT_LIMITS;
  let first = Math.max(0, versions.length - versionCount.value);
  const sizes = versions.map(({ content }) => JSON.stringify(content).length);
  let total = sizes.slice(first).reduce((sum, size) => sum + size, 0);
  while (total > versionsBytes.value && first < versions.length - 1) total -= sizes[first++] ?? 0;
  return versions.slice(first);
}
