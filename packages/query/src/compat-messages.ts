// Error texts that existing clients match on (docs/reference/influxql.md), and the errors that carry them.
import { InvalidRequest, NotFound } from '@tidemark/core';
import type { Diagnostic } from '@tidemark/core';

/** A statement that can not be run as it is written. */
export function invalid(text: string): InvalidRequest {
  return new InvalidRequest(text);
}

/** As `invalid`, with the place in the text and what to write instead. */
export function invalidAt(
  text: string,
  finding: Pick<Diagnostic, 'code' | 'span' | 'hint'>,
): InvalidRequest {
  return new InvalidRequest(text, {
    hint: finding.hint,
    diagnostics: [{ ...finding, message: text }],
  });
}

export function databaseNotFound(database: string): NotFound {
  return new NotFound(`database not found: ${database}`);
}

export function retentionPolicyNotFound(retentionPolicy: string): NotFound {
  return new NotFound(`retention policy not found: ${retentionPolicy}`);
}

export const DATABASE_NAME_REQUIRED = 'database name required';

/** Sources that older servers used for schema queries, and the statement to use instead. */
export const SYSTEM_SOURCES: ReadonlyMap<string, string> = new Map([
  ['_fieldKeys', 'SHOW FIELD KEYS'],
  ['_measurements', 'SHOW MEASUREMENTS'],
  ['_series', 'SHOW SERIES'],
  ['_tagKeys', 'SHOW TAG KEYS'],
  ['_tags', 'SHOW TAG VALUES'],
]);

export function systemSource(name: string, instead: string): InvalidRequest {
  return invalid(`unable to use system source '${name}': use ${instead} instead`);
}
