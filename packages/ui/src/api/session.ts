// The signed-in user. The browser has a cookie that scripts cannot read; this page has the token
// that accompanies every request, without which the cookie is useless to another page.
import { signal } from '@preact/signals';

import { SERVER_PATH } from './paths.ts';

export type Session = {
  /** Empty while nobody is signed in, or when authentication is off. */
  readonly user: string;
  readonly isAdmin: boolean;
  /** Databases that the user may read; `undefined` means all. */
  readonly reads?: readonly string[] | undefined;
  /** Databases that the user may write to; `undefined` means all. */
  readonly writes?: readonly string[] | undefined;
};

type SessionDocument = Session & { readonly csrf: string };

const NOBODY: Session = { user: '', isAdmin: true };

/** Without authentication everybody may do everything. */
export const session = signal<Session>(NOBODY);

/** Whether the signed-in user has no rights at all. */
export const hasNothing = (): boolean => {
  const { isAdmin, reads, writes } = session.value;
  return !isAdmin && reads?.length === 0 && writes?.length === 0;
};

/** Whether the signed-in user may read all of these databases. */
export function mayRead(databases: readonly string[]): boolean {
  const { isAdmin, reads } = session.value;
  return isAdmin || reads === undefined || databases.every((name) => reads.includes(name));
}

/** Whether to show the sign-in dialog: a call was refused for lack of a session. */
export const isSignInWanted = signal(false);

/** Whether a service has refused an anonymous call. */
export const isSessionNeeded = signal(false);

let csrf = '';
let waiting: (() => void)[] = [];

/** The token that every call carries; empty while nobody is signed in. */
export const sessionToken = (): string => csrf;

function take(document: SessionDocument): void {
  const { csrf: token, ...rest } = document;
  csrf = token;
  session.value = rest;
  isSignInWanted.value = false;
  for (const resume of waiting) resume();
  waiting = [];
}

/** Resumes the session of the browser's cookie after a reload. */
async function resumeSession(): Promise<void> {
  const response = await fetch(`${SERVER_PATH}api/session`);
  if (response.ok) take((await response.json()) as SessionDocument);
}

/** Whether it is known who is signed in; a page decides by it what to offer. */
export const isResumed = signal(false);

let resumed: Promise<void> | undefined;

/** Resolves when it is known whether somebody is signed in: earlier calls would be anonymous. */
export function whenResumed(): Promise<void> {
  // Without an answer nobody is signed in; the call itself will show the error.
  resumed ??= resumeSession()
    .catch(() => undefined)
    .then(() => {
      isResumed.value = true;
    });
  return resumed;
}

/** Signs in; returns the reason of a failure, or `undefined` on success. */
export async function signIn(username: string, password: string): Promise<string | undefined> {
  const response = await fetch(`${SERVER_PATH}api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  const document = (await response.json()) as SessionDocument & { readonly error?: string };
  if (!response.ok) return document.error ?? `${response.status} ${response.statusText}`;
  take(document);
  return undefined;
}

/** Signs out here and on the server. */
export async function signOut(): Promise<void> {
  await fetch(`${SERVER_PATH}api/session`, { method: 'DELETE', headers: { 'X-CSRF-Token': csrf } });
  csrf = '';
  session.value = NOBODY;
  isSignInWanted.value = true;
}

/**
 * Asks the user to sign in and resolves when that is done; interrupted calls are then sent again.
 */
export function waitForSignIn(signal: AbortSignal | null | undefined): Promise<void> {
  isSessionNeeded.value = true;
  isSignInWanted.value = true;
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    signal?.addEventListener('abort', () => reject(abortReason(signal)), { once: true });
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError');
}
