// Hides secrets in texts that leave the engine: log lines, errors in responses, reasons of failed
// deliveries. Services may echo what they were sent, so knowing which of our own texts hold secrets
// is not enough.
import { HIDDEN, hideUrlSecrets, isSecretHeader } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';

/** Shorter ones would be found everywhere; who uses one has no secret. */
export const SECRET_LENGTH_MIN = 6;

const BASIC_HEADER = /\b(Basic +)([A-Za-z0-9+/]{4,}={0,2})/g;

export class Redactor {
  readonly #secrets = new Set<string>();
  /** Secrets that are in use as long as who brought them is there: forms by owner. */
  readonly #owned = new Map<string, ReadonlySet<string>>();
  /** All forms, the longest first; made when it is needed. */
  #sorted: readonly string[] | undefined;

  /**
   * Remembers a secret that is in use, also as it looks in URLs; of a URL the part that the
   * receiver sees.
   */
  add(secret: string): void {
    for (const form of formsOf(secret)) {
      if (this.#secrets.has(form)) continue;
      this.#secrets.add(form);
      this.#sorted = undefined;
    }
  }

  /** Remembers secrets of an owner beside those that it has. */
  addOwned(owner: string, secrets: readonly string[]): void {
    if (secrets.length > 0) this.#own(owner, [...(this.#owned.get(owner) ?? []), ...secrets]);
  }

  /** Remembers the secrets of an owner in place of those that it had. */
  setOwned(owner: string, secrets: readonly string[]): void {
    if (secrets.length > 0 || this.#owned.has(owner)) this.#own(owner, secrets);
  }

  #own(owner: string, secrets: readonly string[]): void {
    const forms = new Set(secrets.flatMap(formsOf));
    if (forms.size === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, forms);
    this.#sorted = undefined;
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
    this.#sorted ??= longestFirst([this.#secrets, ...this.#owned.values()]);
    return hideAll(hidden, this.#sorted);
  };

  /**
   * The same for a text that belongs to somebody with secrets of his own, which nobody else's texts
   * can hold.
   */
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
function longestFirst(sets: readonly Iterable<string>[]): readonly string[] {
  const forms = new Set(sets.flatMap((set) => [...set]));
  return [...forms].sort((a, b) => b.length - a.length);
}

function hideAll(text: string, forms: readonly string[]): string {
  return forms.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
}
