// Endpoints of documents, which people create in the web application. The API is the same as that
// of the database (packages/process/src/documents/answer.ts).
import { answerDocuments } from '@tidemark/process';
import type { Documents } from '@tidemark/process';
import type { Logger } from '../observability/log-hub.ts';
import type { Api, ApiHandler } from './api.ts';

export const DOCUMENTS_PATH = '/documents';

/** Without authentication all clients may do everything. */
const EVERYBODY = { name: '', isAdmin: true, hasGrant: true };

export function addDocumentRoutes(
  api: Api,
  { documents, log }: { readonly documents: Documents; readonly log: Logger },
): void {
  const answer: ApiHandler = ({ method, query, body, user = EVERYBODY }) =>
    answerDocuments(
      documents,
      {
        method,
        parameter: (name) => query.get(name),
        body: () => Promise.resolve(body),
        user: { name: user.name, isAdmin: user.isAdmin, hasGrant: user.hasGrant },
      },
      (action, { kind, id }) => log('info', 'document', { action, kind, id, user: user.name }),
    );
  api.on('GET', DOCUMENTS_PATH, answer);
  api.on('PUT', DOCUMENTS_PATH, answer);
  api.on('DELETE', DOCUMENTS_PATH, answer);
}
