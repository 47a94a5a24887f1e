// Documents that people create in the web application, such as dashboards and statements, and that
// both services store. A service knows title and versions, and copies the folder and the tags of
// the content into lists; only the application interprets the rest.
import { assert } from './assert.ts';
import { Conflict } from './errors.ts';
import type { Limit } from './limits.ts';

/**
 * Kinds of documents. A personal one belongs to whoever has stored it, and nobody else sees it; the
 * others are read by everybody who has any right, and changed by admins
 * (docs/adr/0018-documents.md).
 */
export const DOCUMENT_KINDS = {
  dashboards: { isPersonal: false },
  queries: { isPersonal: true },
} as const satisfies Readonly<Record<string, { readonly isPersonal: boolean }>>;

export type DocumentKind = keyof typeof DOCUMENT_KINDS;

export const DOCUMENT_LIMITS = {
  documentBytes: {
    value: 1024 * 1024,
    unit: 'bytes',
    reason: 'of one version, as JSON; a dashboard of fifty cells has about thirty thousand',
  },
  documentCount: {
    value: 1000,
    unit: 'count',
    reason: 'of one kind, of a personal one for each user; a list shows all of them',
  },
  versionCount: {
    value: 50,
    unit: 'count',
    reason: 'that are kept of a document; the oldest goes first',
  },
  versionsBytes: {
    value: 4 * 1024 * 1024,
    unit: 'bytes',
    reason: 'of all versions of a document, which are written together',
  },
  tagCount: { value: 20, unit: 'count', reason: 'that lists show of a document' },
  nameLength: { value: 200, unit: 'count', reason: 'characters of an id or a title' },
} as const satisfies Readonly<Record<string, Limit>>;

/** One version as lists show it. */
export type VersionSummary = {
  /** Counts the changes of a document, from 1. */
  readonly version: number;
  readonly title: string;
  /** RFC 3339. */
  readonly modified: string;
  /** Name of the user; empty where authentication is off. */
  readonly by: string;
};

export type DocumentSummary = VersionSummary & {
  readonly kind: DocumentKind;
  readonly id: string;
  /** Where lists file it: members of its content, if it has them. */
  readonly folder?: string | undefined;
  readonly tags?: readonly string[] | undefined;
};

/** A document in one of its versions. */
export type StoredDocument = DocumentSummary & {
  readonly content: unknown;
  /** All stored versions, newest first. */
  readonly versions: readonly VersionSummary[];
};

/** A document as it is stored, with its versions, newest last; there is at least one. */
export type DocumentRecord = {
  readonly kind: DocumentKind;
  /** Name of the owner; empty for a shared document. */
  readonly owner: string;
  readonly id: string;
  readonly versions: readonly (VersionSummary & { readonly content: unknown })[];
};

/** A store of documents by a short key. A change is on disk when its promise resolves. */
export interface DocumentRecords {
  values(): Iterable<DocumentRecord>;
  get(key: string): DocumentRecord | undefined;
  put(key: string, record: DocumentRecord): Promise<void>;
  remove(key: string): Promise<void>;
}

/** What lists show of a document, and whose it is. */
export type ListedDocument = { readonly owner: string; readonly summary: DocumentSummary };

/** Gets the current document at the moment of a change; if it throws, nothing changes. */
export type DocumentCheck = (present: DocumentSummary | undefined) => void;

/** Documents by a short key, which several services may change. */
export interface DocumentStore {
  /** As far as this service knows. */
  list(): Iterable<ListedDocument>;
  /** The current record, whoever changed it last. */
  get(key: string): Promise<DocumentRecord | undefined>;
  put(key: string, record: DocumentRecord, check: DocumentCheck): Promise<void>;
  remove(key: string, check: DocumentCheck): Promise<void>;
}

/** What lists show of a record. */
export function listedDocument({ kind, id, owner, versions }: DocumentRecord): ListedDocument {
  const newest = versions.at(-1);
  assert(newest !== undefined, 'a document has a version');
  return { owner, summary: { kind, id, ...versionSummary(newest), ...filingOf(newest.content) } };
}

/** Folder and tags of a content, as far as they are what they should be. */
function filingOf(content: unknown): Pick<DocumentSummary, 'folder' | 'tags'> {
  if (typeof content !== 'object' || content === null) return {};
  const { folder, tags } = content as Readonly<Record<string, unknown>>;
  const { nameLength, tagCount } = DOCUMENT_LIMITS;
  const isName = (value: unknown): value is string =>
    typeof value === 'string' && value !== '' && value.length <= nameLength.value;
  const named = Array.isArray(tags) ? tags.filter(isName).slice(0, tagCount.value) : [];
  return { ...(isName(folder) ? { folder } : {}), ...(named.length > 0 ? { tags: named } : {}) };
}

/** What lists show of a version. */
export function versionSummary({ version, title, modified, by }: VersionSummary): VersionSummary {
  return { version, title, modified, by };
}

/** The document was changed by somebody else since the caller read it. */
export class StaleVersion extends Conflict {}
