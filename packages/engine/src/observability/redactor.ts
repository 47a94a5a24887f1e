// Hides secrets in texts that leave the engine: log lines, errors in responses, reasons of failed
// deliveries. Services may echo what they were sent, so checking our own texts is not enough.
import { HIDDEN, hideUrlSecrets, isSecretHeader } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';

/** Shorter ones would be found everywhere and are not secret. */
export const SECRET_LENGTH_MIN = 6;

const BASIC_HEADER = /\b(Basic +)([A-Za-z0-9+/]{4,}={0,2})/g;

export class Redactor {
  readonly #secrets = new Set<string>();
  /** Secrets in use while their owner exists: forms by owner. */
  readonly #owned = new Map<string, ReadonlySet<string>>();
  /** All forms, the longest first; computed on demand. */
  #sorted: readonly string[] | undefined;

  /**
   * Adds a secret in use, including its form in URLs; for a URL, the part that the receiver sees.
   */
  add(secret: string): void {
    for (const form of formsOf(secret)) {
      if (this.#secrets.has(form)) continue;
      this.#secrets.add(form);
      this.#sorted = undefined;
    }
  }

  /** Adds secrets of an owner. */
  addOwned(owner: string, secrets: readonly string[]): void {
    if (secrets.length > 0) this.#own(owner, [...(this.#owned.get(owner) ?? []), ...secrets]);
  }

  /** Replaces the secrets of an owner. */
  setOwned(owner: string, secrets: readonly string[]): void {
    if (secrets.length > 0 || this.#owned.has(owner)) this.#own(owner, secrets);
  }

  #own(owner: string, secrets: readonly string[]): void {
    const forms = new Set(secrets.flatMap(formsOf));
    if (forms.size === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, forms);
    this.#sorted = undefined;
  }

  /** Adds user and password in the form of basic authentication. */
  addCredentials(options: Options): void {
    const user = options['username'] ?? options['user'];
    const { password } = options;
    if (typeof user !== 'string' || typeof password !== 'string' || password === '') return;
    this.add(password);
    this.add(Buffer.from(`${user}:${password}`).toString('base64'));
  }

  /** Adds the values of secret headers. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(headers)) {
      if (isSecretHeader(name)) this.add(value);
    }
  }

  /** The text with all known secrets, and passwords in URLs, replaced. */
  readonly redact = (text: string): string => {
    const hidden = hideUrlSecrets(text).replace(BASIC_HEADER, hideCredentials);
    this.#sorted ??= longestFirst([this.#secrets, ...this.#owned.values()]);
    return hideAll(hidden, this.#sorted);
  };

  /** The same for a text whose owner has secrets of its own, which other texts cannot contain. */
  readonly redactOwn = (text: string, secrets: Iterable<string>): string => {
    return this.redact(hideAll(text, longestFirst([[...secrets].flatMap(formsOf)])));
  };
}

function formsOf(secret: string): readonly string[] {
  const clean = secret.replace(/\p{Surrogate}/gu, '');
  const url = new URL('http://h');
  url.pathname = clean;
  url.search = clean;
  const forms = [
    secret,
    encodeURIComponent(clean),
    encodeURI(clean),
    url.pathname.slice(1),
    url.search.slice(1),
    JSON.stringify(secret).slice(1, -1),
  ];
  if (/^https?:/.test(secret) && URL.canParse(secret)) {
    const { pathname, search, username, password } = new URL(secret);
    forms.push(pathname.slice(1) + search);
    if (password !== '') {
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      forms.push(Buffer.from(credentials).toString('base64'));
    }
  }
  // `Bearer …`, `Basic …`: receivers repeat the credentials without the scheme.
  const credentials = /^\w+ +(\S+)$/.exec(secret)?.[1];
  if (credentials !== undefined) forms.push(credentials);
  return forms.filter((form) => form.length >= SECRET_LENGTH_MIN);
}

// Other words may follow "Basic": only user and password are hidden.
function hideCredentials(found: string, scheme: string, encoded: string): string {
  const isPair = Buffer.from(encoded, 'base64').toString('latin1').includes(':');
  return isPair ? scheme + HIDDEN : found;
}

// The longest first: a secret may begin with another.
function longestFirst(sets: readonly Iterable<string>[]): readonly string[] {
  const forms = new Set(sets.flatMap((set) => [...set]));
  return [...forms].sort((a, b) => b.length - a.length);
}

function hideAll(text: string, forms: readonly string[]): string {
  return forms.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
}
