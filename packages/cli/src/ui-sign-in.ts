// Asks a service whether a name and a password are valid, and what that user may do.
import { PAGE_KEY_HEADER } from '@tidemark/process';

import type { SignedIn } from './ui-session.ts';

const ASK_TIMEOUT_MS = 10_000;

type Question = {
  readonly username: string;
  readonly authorization: string;
  readonly clientAddress: string;
  readonly pageKey: string;
  readonly tsdbUrl?: string | undefined;
  readonly engineUrl?: string | undefined;
};

export type SignInAnswer =
  | { readonly signedIn: SignedIn }
  | { readonly status: number; readonly error: string };

/** Wrong passwords count for the client, not for the page's server. */
export async function verifySignIn(question: Question): Promise<SignInAnswer> {
  const { tsdbUrl, engineUrl, username } = question;
  if (tsdbUrl === undefined) {
    // The engine alone: it decides who may sign in, and whether they may do more than read.
    const answer = await ask(`${engineUrl}/engine/v1/tasks?limit=1`, question);
    if (!answer.ok && answer.status !== 403) return refusalOf(answer);
    const isAdmin = (await ask(`${engineUrl}/engine/v1/audit?limit=1`, question)).ok;
    return { signedIn: { user: username, isAdmin, ...(answer.ok ? {} : NOTHING) } };
  }
  const answer = await ask(`${tsdbUrl}/api/me`, question);
  if (!answer.ok) return refusalOf(answer);
  const { user, admin, reads, writes } = (await answer.json()) as Me;
  return { signedIn: { user, isAdmin: admin, ...(admin ? {} : { reads, writes }) } };
}

/** The rights of a user without grants. */
const NOTHING = { reads: [], writes: [] };

/** The database's description of the user. */
type Me = {
  readonly user: string;
  readonly admin: boolean;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
};

function ask(url: string, question: Question): Promise<Response> {
  const headers = {
    Authorization: question.authorization,
    'X-Forwarded-For': question.clientAddress,
    [PAGE_KEY_HEADER]: question.pageKey,
  };
  return fetch(url, { headers, signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
}

async function refusalOf(answer: Response): Promise<SignInAnswer> {
  const document = (await answer.json()) as { readonly error?: string };
  return { status: answer.status, error: document.error ?? 'not signed in' };
}
