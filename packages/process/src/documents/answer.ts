// The API of documents, shared by both services: turns a parsed request into a response.
import {
  checkJsonDepth,
  DOCUMENT_KINDS,
  DOCUMENT_LIMITS,
  Forbidden,
  InvalidRequest,
  messageOf,
  own,
} from '@tidemark/core';
import type { DocumentKind } from '@tidemark/core';
import type { DocumentChange, DocumentName, Documents } from './documents.ts';

/** The user of a request. */
export type DocumentUser = {
  /** Empty without authentication. */
  readonly name: string;
  readonly isAdmin: boolean;
  /** Whether the user has a grant on any database, or access to all. */
  readonly hasGrant: boolean;
};

export type DocumentRequest = {
  readonly method: string;
  /** A parameter of the URL, empty if absent. */
  readonly parameter: (name: string) => string;
  readonly body: () => Promise<Uint8Array>;
  readonly user: DocumentUser;
};

export type DocumentAnswer =
  | { readonly status: 200 | 201; readonly json: object }
  | { readonly status: 204 };

/**
 * Answers a request for documents; `onChange` is called with changes. Throws the errors of
 * `Documents`, `Forbidden`, and `InvalidRequest` for missing parameters.
 */
export async function answerDocuments(
  documents: Documents,
  request: DocumentRequest,
  onChange: (action: 'put' | 'delete', name: DocumentName) => void,
): Promise<DocumentAnswer> {
  const { method, parameter, user } = request;
  // As for the databases: users without grants see nothing.
  if (!user.isAdmin && !user.hasGrant) {
    throw new Forbidden(`user ${JSON.stringify(user.name)} has no right on any database`);
  }
  const kind = kindOf(parameter('kind'));
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead && !user.isAdmin && !DOCUMENT_KINDS[kind].isPersonal) {
    throw new Forbidden(`only admins change ${kind}; user ${JSON.stringify(user.name)} is none`);
  }
  if (method === 'PUT') {
    const name = nameOf(kind, request);
    const replaces = versionOf(request);
    const summary = await documents.put(name, { ...(await readChange(request)), replaces });
    onChange('put', name);
    return { status: replaces === 0 ? 201 : 200, json: summary };
  }
  if (method === 'DELETE') {
    const name = nameOf(kind, request);
    await documents.remove(name, versionOf(request));
    onChange('delete', name);
    return { status: 204 };
  }
  if (parameter('id') === '') {
    return { status: 200, json: { documents: documents.list(kind, user.name) } };
  }
  const version = parameter('version') === '' ? undefined : versionOf(request);
  return { status: 200, json: await documents.get(nameOf(kind, request), version) };
}

function kindOf(text: string): DocumentKind {
  const kinds = Object.keys(DOCUMENT_KINDS);
  if (own(DOCUMENT_KINDS, text) === undefined) {
    throw new InvalidRequest(`kind has to be one of ${kinds.join(', ')}`);
  }
  return text as DocumentKind;
}

function nameOf(kind: DocumentKind, { parameter, user }: DocumentRequest): DocumentName {
  return { kind, id: checkedName('id', parameter('id')), user: user.name };
}

function checkedName(what: string, text: unknown): string {
  const { value: lengthMax } = DOCUMENT_LIMITS.nameLength;
  // eslint-disable-next-line no-control-regex
  const isName = typeof text === 'string' && /^[^\x00-\x1f]+$/.test(text);
  if (isName && text.length <= lengthMax) return text;
  throw new InvalidRequest(`${what} has to be a text of 1 to ${lengthMax} characters`);
}

function versionOf({ parameter }: DocumentRequest): number {
  const text = parameter('version');
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidRequest(
    'version has to be the number of the version that is changed, 0 for a document that is new',
  );
}

async function readChange({
  body,
}: DocumentRequest): Promise<Pick<DocumentChange, 'title' | 'content'>> {
  const bytes = await body();
  const { value: bytesMax } = DOCUMENT_LIMITS.documentBytes;
  if (bytes.length > bytesMax) {
    throw new InvalidRequest(
      `a document has at most ${bytesMax} bytes, this one ${bytes.length}: make several of it`,
    );
  }
  const text = Buffer.from(bytes).toString('utf8');
  checkJsonDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new InvalidRequest(`the body must be JSON: {"title", "content"}: ${messageOf(cause)}`, {
      cause,
    });
  }
  const { title, content } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly title?: unknown;
    readonly content?: unknown;
  };
  if (content === undefined) throw new InvalidRequest('content is missing');
  return { title: checkedName('title', title), content };
}
