// Hides secrets in texts that leave the engine: log lines, errors of answers, reasons of failed deliveries. Services
// repeat what they were sent in their answers, so knowing which texts of our own hold secrets would not be enough.
import type { Options } from '@tidemark/alerting';

const HIDDEN = '[REDACTED]';

/** Shorter ones would be found everywhere; who uses one has no secret. */
const SECRET_LENGTH_MIN = 6;

const URL_PASSWORD = /(:\/\/[^\s/:@"'`]*:)[^\s/@"'`]+@/g;
const QUERY_PASSWORD = /([?&](?:p|password|token)=)[^&\s"'`]*/g;

const SECRET_HEADER = /auth|token|key|secret|cookie/i;

/** Headers as they are shown: those that commonly hold credentials without their values. */
export function hideSecretHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_HEADER.test(name) ? HIDDEN : value,
    ]),
  );
}

/** A text as it is shown: URLs in it without their passwords. */
export function hideUrlPasswords(text: string): string {
  return text.replace(URL_PASSWORD, `$1${HIDDEN}@`);
}

export class Redactor {
  readonly #secrets = new Set<string>();
  /** Matches any of them; made when it is needed. */
  #pattern: RegExp | undefined;

  /** Remembers a secret that is in use, also as it looks in URLs; of a URL the part that the receiver sees. */
  add(secret: string): void {
    const forms = [secret, encodeURIComponent(secret.replace(/\p{Surrogate}/gu, ''))];
    if (/^https?:/.test(secret) && URL.canParse(secret)) {
      const { pathname, search } = new URL(secret);
      forms.push(pathname.slice(1) + search);
    }
    for (const form of forms) {
      if (form.length < SECRET_LENGTH_MIN || this.#secrets.has(form)) continue;
      this.#secrets.add(form);
      this.#pattern = undefined;
    }
  }

  /** Remembers user and password as they look in a header of basic authentication. */
  addCredentials(options: Options): void {
    const user = options['username'] ?? options['user'];
    const { password } = options;
    if (typeof user !== 'string' || typeof password !== 'string' || password === '') return;
    this.add(password);
    this.add(Buffer.from(`${user}:${password}`).toString('base64'));
  }

  /** Remembers the values of headers that are not shown. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(headers)) {
      if (SECRET_HEADER.test(name)) this.add(value);
    }
  }

  /** The text with all known secrets, and passwords in URLs, replaced. */
  readonly redact = (text: string): string => {
    const hidden = hideUrlPasswords(text).replace(QUERY_PASSWORD, `$1${HIDDEN}`);
    if (this.#secrets.size === 0) return hidden;
    this.#pattern ??= patternOf([...this.#secrets]);
    return hidden.replace(this.#pattern, HIDDEN);
  };
}

// The longest first: a secret may begin with another.
function patternOf(secrets: readonly string[]): RegExp {
  const sorted = secrets.toSorted((a, b) => b.length - a.length);
  return new RegExp(
    sorted.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
    'g',
  );
}
