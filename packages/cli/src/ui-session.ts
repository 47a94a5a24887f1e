// Sessions of the web application. The browser has a cookie that no script can read; every request
// must also carry a token, which another page cannot know. Credentials stay in the memory of this
// process and end with it.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The user, as shown to the page. */
export type SignedIn = {
  readonly user: string;
  readonly isAdmin: boolean;
  /** Databases that a non-admin user may read; `undefined` if unknown. */
  readonly reads?: readonly string[] | undefined;
  /** Databases that the user may write to. */
  readonly writes?: readonly string[] | undefined;
};

export type Session = {
  readonly id: string;
  readonly csrf: string;
  /** The `Authorization` header for services. */
  readonly authorization: string;
  readonly signedIn: SignedIn;
};

const COOKIE = 'tidemark-session';
const CSRF_HEADER = 'x-csrf-token';

/** Above this the least recently used session ends; a session takes some hundred bytes. */
export const SESSIONS_MAX = 1000;

/** An unused session ends after twelve hours: a working day, not a night. */
export const SESSION_IDLE_MS = 12 * 3_600_000;

export class PageSessions {
  readonly #nowMs: () => number;
  /** In order of last use. */
  readonly #sessions = new Map<string, { readonly session: Session; usedMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  open(authorization: string, signedIn: SignedIn): Session {
    const secret = (): string => randomBytes(32).toString('base64url');
    const session = { id: secret(), csrf: secret(), authorization, signedIn };
    this.#sessions.set(session.id, { session, usedMs: this.#nowMs() });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }

  close(session: Session): void {
    this.#sessions.delete(session.id);
  }

  /** The session of a request's cookie, which only allows asking who is signed in. */
  ofCookie({ headers }: IncomingMessage): Session | undefined {
    const pair = (headers.cookie ?? '')
      .split(';')
      .map((text) => text.trim())
      .find((text) => text.startsWith(`${COOKIE}=`));
    const id = pair?.slice(COOKIE.length + 1) ?? '';
    const found = this.#sessions.get(id);
    if (found === undefined) return undefined;
    this.#sessions.delete(id);
    const nowMs = this.#nowMs();
    if (nowMs - found.usedMs > SESSION_IDLE_MS) return undefined;
    found.usedMs = nowMs;
    this.#sessions.set(id, found);
    return found.session;
  }

  /** The session of a call: identified by the cookie and the token that only the page has. */
  ofCall(request: IncomingMessage): Session | undefined {
    const session = this.ofCookie(request);
    const token = request.headers[CSRF_HEADER];
    if (session === undefined || typeof token !== 'string') return undefined;
    const given = Buffer.from(token);
    const wanted = Buffer.from(session.csrf);
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? session : undefined;
  }
}

/** The cookie of a session, or its removal. Secure if a proxy reports TLS. */
export function sessionCookie(session: Session | undefined, request: IncomingMessage): string {
  const isSecure = request.headers['x-forwarded-proto'] === 'https';
  return [
    `${COOKIE}=${session?.id ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(session === undefined ? ['Max-Age=0'] : []),
    ...(isSecure ? ['Secure'] : []),
  ].join('; ');
}
