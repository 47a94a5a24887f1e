// Finds the secrets in a text or an option and replaces them by a marker, so that the rest of a URL
// or of a set of headers can be read. A reference to a secret (`env:NAME`, `file:/path`) is not a
// secret and is shown as it is.

/** Stands where a secret is not shown. Sent back in a definition it means "as it is now". */
export const HIDDEN = '[REDACTED]';

const REFERENCE = /^(?:env|file):/;

const URL_PASSWORD = /(:\/\/[^\s/:@"'`]*:)[^\s/@"'`]+@/g;

// Names under which receivers take credentials in URLs: `?token=`, `&auth_token=`, `?api_key=`,
// `&sig=`.
const QUERY_SECRET =
  /([?&](?:p|pass(?:word|wd)?|api-?key|(?:\w*[-_])?(?:token|secret|key|auth|sig(?:nature)?))=)[^&#\s"'`]+/gi;

const SECRET_HEADER = /auth|token|key|secret|cookie/i;

/** Whether a value says where its secret is instead of holding it. */
export function isReference(text: string): boolean {
  return REFERENCE.test(text);
}

/** Whether a header commonly holds credentials. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name);
}

/**
 * A text as it is shown: URLs in it without their passwords, nor what their queries have of that
 * kind.
 */
export function hideUrlSecrets(text: string): string {
  return text.replace(URL_PASSWORD, `$1${HIDDEN}@`).replace(QUERY_SECRET, `$1${HIDDEN}`);
}

/** A secret as it is shown. */
export function hideSecret(text: string): string {
  return text === '' || isReference(text) ? text : HIDDEN;
}
