// Credentials of a request: `u` and `p`, bearer token, `Token user:password` or an API token,
// basic; in this order.
import { TOKEN_PREFIX } from '../catalog/tokens.ts';

export type Credentials =
  | { readonly kind: 'password'; readonly userName: string; readonly password: string }
  | { readonly kind: 'bearer' | 'api-token'; readonly token: string }
  | { readonly kind: 'none' };

/** The credentials of a request. */
export type Login = {
  /** Parameters `u` and `p`; empty when they are absent. */
  readonly userName: string;
  readonly password: string;
  /** The header. */
  readonly authorization: string | undefined;
  /** The client's address, for which failures are counted. */
  readonly address: string;
};

/** Reads credentials; invalid ones are `none`. */
export function readCredentials({ userName, password, authorization }: Login): Credentials {
  if (userName !== '' && password !== '') return { kind: 'password', userName, password };
  if (authorization === undefined) return { kind: 'none' };
  const space = authorization.indexOf(' ');
  const scheme = authorization.slice(0, space).toLowerCase();
  const rest = authorization.slice(space + 1).trim();
  switch (scheme) {
    case 'bearer':
      return { kind: rest.startsWith(TOKEN_PREFIX) ? 'api-token' : 'bearer', token: rest };
    case 'token':
      return rest.startsWith(TOKEN_PREFIX)
        ? { kind: 'api-token', token: rest }
        : splitPassword(rest);
    case 'basic':
      return splitPassword(Buffer.from(rest, 'base64').toString('utf8'));
    default:
      return { kind: 'none' };
  }
}

/** The user name in a login, whether or not the password is right; empty without one. */
export function claimedName(login: Login): string {
  const credentials = readCredentials(login);
  return credentials.kind === 'password' ? credentials.userName : login.userName;
}

function splitPassword(text: string): Credentials {
  const colon = text.indexOf(':');
  if (colon < 0) return { kind: 'none' };
  return { kind: 'password', userName: text.slice(0, colon), password: text.slice(colon + 1) };
}
