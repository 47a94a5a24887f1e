// Documents: what people make in the web application and both services keep for them – dashboards,
// statements. A service knows their title and their versions; what they say is the application's.
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
  nameLength: { value: 200, unit: 'count', reason: 'characters of an id or a title' },
} as const satisfies Readonly<Record<string, Limit>>;

/** One version as lists show it. */
export type VersionSummary = {
  /** Counts the changes of a document, from 1. */
  readonly version: number;
  readonly title: string;
  /** RFC 3339. */
  readonly modified: string;
  /** Name of the user; empty where nobody has to say who they are. */
  readonly by: string;
};

export type DocumentSummary = VersionSummary & {
  readonly kind: DocumentKind;
  readonly id: string;
};

/** A document in one of its versions. */
export type StoredDocument = DocumentSummary & {
  readonly content: unknown;
  /** All that are kept, the newest first. */
  readonly versions: readonly VersionSummary[];
};

/** A document as it is stored, with its versions, the newest last; never without one. */
export type DocumentRecord = {
  readonly kind: DocumentKind;
  /** Whose it is; empty for what belongs to all. */
  readonly owner: string;
  readonly id: string;
  readonly versions: readonly (VersionSummary & { readonly content: unknown })[];
};

/** Where documents are kept, by a short key. A change is on disk when its promise resolves. */
export interface DocumentRecords {
  values(): Iterable<DocumentRecord>;
  get(key: string): DocumentRecord | undefined;
  put(key: string, record: DocumentRecord): Promise<void>;
  remove(key: string): Promise<void>;
}

/** Somebody else was first: what was changed is not what is stored. */
export class StaleVersion extends Conflict {}
