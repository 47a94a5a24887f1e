// Hides secrets in texts that leave the engine: log lines, errors of answers, reasons of failed deliveries. Services
// repeat what they were sent in their answers, so knowing which texts of our own hold secrets would not be enough.
import { HIDDEN, hideUrlSecrets, isSecretHeader } from '@tidemark/alerting';
import type { Options } from '@tidemark/alerting';

/** Shorter ones would be found everywhere; who uses one has no secret. */
const SECRET_LENGTH_MIN = 6;

const BASIC_HEADER = /\b(Basic +)([A-Za-z0-9+/]{4,}={0,2})/g;

export class Redactor {
  readonly #secrets = new Set<string>();
  /** Matches any of them; made when it is needed. */
  #pattern: RegExp | undefined;

  /** Remembers a secret that is in use, also as it looks in URLs; of a URL the part that the receiver sees. */
  add(secret: string): void {
    for (const form of formsOf(secret)) {
      if (this.#secrets.has(form)) continue;
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
      if (isSecretHeader(name)) this.add(value);
    }
  }

  /** The text with all known secrets, and passwords in URLs, replaced. */
  readonly redact = (text: string): string => {
    const hidden = hideUrlSecrets(text).replace(BASIC_HEADER, hideCredentials);
    if (this.#secrets.size === 0) return hidden;
    this.#pattern ??= patternOf([...this.#secrets]);
    return hidden.replace(this.#pattern, HIDDEN);
  };

  /** The same for a text that belongs to somebody with secrets of his own, which nobody else's texts can hold. */
  readonly redactOwn = (text: string, secrets: Iterable<string>): string => {
    const own = [...secrets].flatMap(formsOf);
    return this.redact(own.length === 0 ? text : text.replace(patternOf(own), HIDDEN));
  };
}

function formsOf(secret: string): readonly string[] {
  const forms = [secret, encodeURIComponent(secret.replace(/\p{Surrogate}/gu, ''))];
  if (/^https?:/.test(secret) && URL.canParse(secret)) {
    const { pathname, search, username, password } = new URL(secret);
    forms.push(pathname.slice(1) + search);
    if (password !== '') {
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      forms.push(Buffer.from(credentials).toString('base64'));
    }
  }
  // `Bearer …`, `Basic …`: receivers repeat the credentials without the word before them.
  const credentials = /^\w+ +(\S+)$/.exec(secret)?.[1];
  if (credentials !== undefined) forms.push(credentials);
  return forms.filter((form) => form.length >= SECRET_LENGTH_MIN);
}

// Other words may follow "Basic": only what says user and password is hidden.
function hideCredentials(found: string, scheme: string, encoded: string): string {
  const isPair = Buffer.from(encoded, 'base64').toString('latin1').includes(':');
  return isPair ? scheme + HIDDEN : found;
}

// The longest first: a secret may begin with another.
function patternOf(secrets: readonly string[]): RegExp {
  const sorted = secrets.toSorted((a, b) => b.length - a.length);
  return new RegExp(
    sorted.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
    'g',
  );
}
