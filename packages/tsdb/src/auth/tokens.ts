// JSON web tokens: HS256, HS384 and HS512 with the shared secret; RS256 and ES256 with keys of a
// file.
import { Unauthorized } from '@tidemark/core';
import type * as Jose from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';

const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'];
const KEY_ALGORITHMS = ['RS256', 'ES256'];

export type TokenSettings = {
  /** Empty: tokens signed with a secret are refused. */
  readonly sharedSecret: string;
  /** Absent: tokens signed with a private key are refused. */
  readonly keys?: JWTVerifyGetKey | undefined;
};

/**
 * Reads the user name from a valid token; otherwise throws `Unauthorized` with a text that clients
 * know.
 */
export class TokenVerifier {
  readonly #secret: JWTVerifyGetKey | undefined;
  readonly #keys: JWTVerifyGetKey | undefined;

  constructor(settings: TokenSettings) {
    const secret = new TextEncoder().encode(settings.sharedSecret);
    if (secret.length > 0) this.#secret = () => secret;
    this.#keys = settings.keys;
  }

  async userName(token: string, now: Date): Promise<string> {
    if (this.#secret === undefined && this.#keys === undefined) {
      throw new Unauthorized('bearer auth disabled');
    }
    const payload = await this.#verify(token, now);
    if (typeof payload.exp !== 'number') throw new Unauthorized('token expiration required');
    // The library checks `iat` only if an age is required.
    if (payload.iat !== undefined && payload.iat > now.getTime() / 1000) {
      throw new Unauthorized('Token used before issued');
    }
    const name = payload['username'];
    if (typeof name !== 'string') {
      throw new Unauthorized('username in token must be a string');
    }
    if (name === '') throw new Unauthorized('token must contain a username');
    return name;
  }

  async #verify(token: string, now: Date): Promise<JWTPayload> {
    // Loaded with the first token: most servers never get one, and start sooner without it.
    const jose = await import('jose');
    const { decodeProtectedHeader, jwtVerify } = jose;
    try {
      const { alg = 'none' } = decodeProtectedHeader(token);
      for (const [key, algorithms] of [
        [this.#secret, SECRET_ALGORITHMS],
        [this.#keys, KEY_ALGORITHMS],
      ] as const) {
        if (key === undefined || !algorithms.includes(alg)) continue;
        const { payload } = await jwtVerify(token, key, { currentDate: now, algorithms });
        return payload;
      }
      throw new Unauthorized(`unexpected signing method: ${alg}`);
    } catch (error) {
      throw asUnauthorized(error, jose);
    }
  }
}

function asUnauthorized(error: unknown, { errors }: typeof Jose): Unauthorized {
  if (error instanceof Unauthorized) return error;
  if (error instanceof errors.JWTExpired) {
    return new Unauthorized('Token is expired', { cause: error });
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const text = error.claim === 'nbf' ? 'Token is not valid yet' : 'token expiration required';
    return new Unauthorized(text, { cause: error });
  }
  if (
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey
  ) {
    return new Unauthorized('signature is invalid', { cause: error });
  }
  return new Unauthorized('token contains an invalid number of segments', { cause: error });
}
