// JSON web tokens that are signed with the shared secret: HS256, HS384, HS512.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { own, Unauthorized } from '@tidemark/core';

const HASHES: Readonly<Record<string, string>> = {
  HS256: 'sha256',
  HS384: 'sha384',
  HS512: 'sha512',
};

/** Whether a shared secret may have signed it; the database may accept other kinds of tokens. */
export function isSignedWithSecret(token: string): boolean {
  const { alg } = decodePart(token.split('.')[0] ?? '');
  return own(HASHES, String(alg)) !== undefined;
}

/** The user of a token that is valid now; throws `Unauthorized` otherwise. */
export function userOfToken(token: string, sharedSecret: string, nowSeconds: number): string {
  const [header = '', payload = '', signature = '', ...more] = token.split('.');
  if (more.length > 0) throw new Unauthorized('invalid token: wrong number of segments');
  const hash = own(HASHES, String(decodePart(header)['alg']));
  if (hash === undefined) throw new Unauthorized('invalid token: unexpected signing method');
  const expected = createHmac(hash, sharedSecret)
    .update(`${header}.${payload}`)
    .digest('base64url');
  if (!isSame(signature, expected)) throw new Unauthorized('invalid token: signature is invalid');
  const { exp, nbf, username } = decodePart(payload);
  if (typeof exp !== 'number') throw new Unauthorized('token expiration required');
  if (exp <= nowSeconds) throw new Unauthorized('invalid token: token is expired');
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= nowSeconds))
    throw new Unauthorized('invalid token: token is not valid yet');
  if (username === undefined || username === '')
    throw new Unauthorized('token must contain a username');
  if (typeof username !== 'string') throw new Unauthorized('username in token must be a string');
  return username;
}

/** Compares secrets in a time that only depends on their length. */
export function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

function decodePart(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    if (value !== null && typeof value === 'object') return { ...value };
  } catch {
    // Reported below.
  }
  throw new Unauthorized('invalid token: segment is not JSON');
}
