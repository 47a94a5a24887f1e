// The signed-in user. The browser has a cookie that scripts cannot read; this page has the token
// that accompanies every request, without which the cookie is useless to another page.
import { signal } from '@preact/signals';

import { SERVER_PATH } from './paths.ts';

export type Session = {
  /** Empty while nobody is signed in, or nobody needs to be. */
  readonly user: string;
  readonly isAdmin: boolean;
  /** Databases that the user may read; `undefined` when all. */
  readonly reads?: readonly string[] | undefined;
  /** Databases that the user may write to; `undefined` when all. */
  readonly writes?: readonly string[] | undefined;
};

type SessionDocument = Session & { readonly csrf: string };

const NOBODY: Session = { user: '', isAdmin: true };

/** Without authentication everybody may do everything. */
export const session = signal<Session>(NOBODY);

/** Whether nothing at all was granted to who is signed in. */
export const hasNothing = (): boolean => {
  const { isAdmin, reads, writes } = session.value;
  return !isAdmin && reads?.length === 0 && writes?.length === 0;
};

/** Whether who is signed in may read all of some databases. */
export function mayRead(databases: readonly string[]): boolean {
  const { isAdmin, reads } = session.value;
  return isAdmin || reads === undefined || databases.every((name) => reads.includes(name));
}

/** Whether the sign-in dialog is wanted: a call was answered with "who are you?". */
export const isSignInWanted = signal(false);

/** Whether a service has refused a call of nobody. */
export const isSessionNeeded = signal(false);

let csrf = '';
let waiting: (() => void)[] = [];

/** What a call has to carry; empty while nobody is signed in. */
export const sessionToken = (): string => csrf;

function take(document: SessionDocument): void {
  const { csrf: token, ...rest } = document;
  csrf = token;
  session.value = rest;
  isSignInWanted.value = false;
  for (const resume of waiting) resume();
  waiting = [];
}

/** Takes up the session that the browser has a cookie of, after a reload. */
async function resumeSession(): Promise<void> {
  const response = await fetch(`${SERVER_PATH}api/session`);
  if (response.ok) take((await response.json()) as SessionDocument);
}

/** Whether it is known who is signed in; what a page offers depends on that. */
export const isResumed = signal(false);

let resumed: Promise<void> | undefined;

/** Resolves when it is known whether somebody is signed in: calls before would be nobody's. */
export function whenResumed(): Promise<void> {
  // Without an answer nobody is; the call itself will tell what is wrong.
  resumed ??= resumeSession()
    .catch(() => undefined)
    .then(() => {
      isResumed.value = true;
    });
  return resumed;
}

/** Signs in; the sentence why not, or `undefined` when it went well. */
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
 * Asks the user to sign in and resolves when that is done. What was on its way is sent again then.
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
