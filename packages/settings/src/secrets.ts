// Finds the secrets in a text or an option and replaces them by a marker, so that the rest of a URL
// or of a set of headers can be read. A reference to a secret (`env:NAME`, `file:/path`) is not a
// secret and is shown unchanged.

/** Shown in place of a secret. Sent back in a definition it means "unchanged". */
export const HIDDEN = '[REDACTED]';

const REFERENCE = /^(?:env|file):/;

const URL_PASSWORD = /(:\/\/[^\s/:@"'`]*:)[^\s/@"'`]+@/g;

// Names under which receivers take credentials in URLs: `?token=`, `&auth_token=`, `?api_key=`,
// `&sig=`.
const QUERY_SECRET =
  /([?&](?:p|pass(?:word|wd)?|api-?key|(?:\w*[-_])?(?:token|secret|key|auth|sig(?:nature)?))=)[^&#\s"'`]+/gi;

const SECRET_HEADER = /auth|token|key|secret|cookie/i;

/** Whether a value refers to a secret instead of containing it. */
export function isReference(text: string): boolean {
  return REFERENCE.test(text);
}

/** Whether a header usually holds credentials. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name);
}

/** A printed text: URLs without their passwords, and without credentials in their queries. */
export function hideUrlSecrets(text: string): string {
  return text.replace(URL_PASSWORD, `$1${HIDDEN}@`).replace(QUERY_SECRET, `$1${HIDDEN}`);
}

/** A printed secret. */
export function hideSecret(text: string): string {
  return text === '' || isReference(text) ? text : HIDDEN;
}
