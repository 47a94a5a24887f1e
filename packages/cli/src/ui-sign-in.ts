// Asks a service whether a name and a password are good, and what that user may do.
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

/** Wrong passwords count for the client, not for the server of the page. */
export async function askWhoItIs(question: Question): Promise<SignInAnswer> {
  const { tsdbUrl, engineUrl, username } = question;
  if (tsdbUrl === undefined) {
    // The engine alone: it says who may come in, and refuses by itself what is not allowed.
    const answer = await ask(`${engineUrl}/engine/v1/tasks?limit=1`, question);
    if (!answer.ok) return refusalOf(answer);
    return { signedIn: { user: username, isAdmin: true } };
  }
  // Only an admin may ask whom credentials belong to: either answer tells who it is.
  const { authorization, clientAddress } = question;
  const identity = await ask(`${tsdbUrl}/api/identity`, question, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ authorization, address: clientAddress }),
  });
  if (identity.ok) return { signedIn: { user: username, isAdmin: true } };
  if (identity.status !== 403) return refusalOf(identity);
  const reads = await databases(question, tsdbUrl);
  return { signedIn: { user: username, isAdmin: false, reads } };
}

function ask(url: string, question: Question, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('Authorization', question.authorization);
  headers.set('X-Forwarded-For', question.clientAddress);
  headers.set(PAGE_KEY_HEADER, question.pageKey);
  return fetch(url, { ...init, headers, signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
}

async function refusalOf(answer: Response): Promise<SignInAnswer> {
  const document = (await answer.json()) as { readonly error?: string };
  return { status: answer.status, error: document.error ?? 'not signed in' };
}

/** What a user who is no admin sees of SHOW DATABASES: what may be read. */
async function databases(question: Question, tsdbUrl: string): Promise<readonly string[]> {
  const answer = await ask(`${tsdbUrl}/query?q=SHOW+DATABASES`, question);
  const { results = [] } = (await answer.json()) as {
    readonly results?: readonly {
      readonly series?: readonly { readonly values?: readonly (readonly string[])[] }[];
    }[];
  };
  return (results[0]?.series?.[0]?.values ?? []).map(([name = '']) => name);
}
