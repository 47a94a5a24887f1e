// Error messages that existing clients match on, and the errors that carry them.
import { InvalidRequest, NotFound } from '@tidemark/core';
import type { Diagnostic, Span } from '@tidemark/core';

/** The kind of fault, its place in the text, and what to write instead. */
export type FaultDetails = Pick<Diagnostic, 'code' | 'span' | 'hint'>;

/** The error of a statement that cannot be run. */
export function invalid(text: string, place: FaultDetails): InvalidRequest {
  return new InvalidRequest(text, {
    hint: place.hint,
    diagnostics: [{ ...place, message: text }],
  });
}

/** `span` is absent if the request, not the statement, names the database. */
export function databaseNotFound(database: string, span?: Span): NotFound {
  return notFound(`database not found: ${database}`, 'IQL_UNKNOWN_DATABASE', span);
}

/** `span` is absent if the request, not the statement, names the policy. */
export function retentionPolicyNotFound(retentionPolicy: string, span?: Span): NotFound {
  return notFound(`retention policy not found: ${retentionPolicy}`, 'IQL_UNKNOWN_POLICY', span);
}

function notFound(message: string, code: string, span: Span | undefined): NotFound {
  return new NotFound(
    message,
    span === undefined ? {} : { diagnostics: [{ code, message, span }] },
  );
}

/** The error of a statement that needs a database, if its request names none. */
export function databaseRequired(): InvalidRequest {
  return new InvalidRequest(DATABASE_NAME_REQUIRED, {
    hint: 'add ON and the name of a database, or the parameter db to the request',
  });
}

const DATABASE_NAME_REQUIRED = 'database name required';

/** Sources that older servers used for schema queries, and the statement to use instead. */
export const SYSTEM_SOURCES: ReadonlyMap<string, string> = new Map([
  ['_fieldKeys', 'SHOW FIELD KEYS'],
  ['_measurements', 'SHOW MEASUREMENTS'],
  ['_series', 'SHOW SERIES'],
  ['_tagKeys', 'SHOW TAG KEYS'],
  ['_tags', 'SHOW TAG VALUES'],
]);

export function systemSource(name: string, instead: string, span: Span): InvalidRequest {
  return invalid(`unable to use system source '${name}': use ${instead} instead`, {
    code: 'IQL_SYSTEM_SOURCE',
    span,
    hint: `write ${instead}`,
  });
}
