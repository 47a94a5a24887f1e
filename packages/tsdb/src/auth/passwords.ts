// Passwords: bcrypt in the catalog, and a cache of salted digests of recently verified ones.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { compare, hash } from '@node-rs/bcrypt';

import { LIMITS } from '../limits.ts';

const BCRYPT_COST = 10;

// A hash of an unknown password: comparing with it takes as long as with a real one.
const UNKNOWN_USER_HASH = '$2b$10$CwTycUXWue0Thq9StjUM0uJ8.ZrVVYz5f4rP0b1sZkqJv1n4lTLxC';

export function hashPassword(password: string): Promise<string> {
  return hash(password, BCRYPT_COST);
}

type Login = { readonly passwordHash: string; readonly salt: Buffer; readonly digest: Buffer };

/** Checks passwords; a repeated right one costs microseconds instead of a tenth of a second. */
export class PasswordChecker {
  readonly #logins = new Map<string, Login>();
  readonly #compare: (password: string, passwordHash: string) => Promise<boolean>;

  /** `compareHash` is the slow part; tests count its calls. */
  constructor(compareHash?: (password: string, passwordHash: string) => Promise<boolean>) {
    // Referred to only when it is called, because the native module loads with its first use.
    this.#compare = compareHash ?? ((password, passwordHash) => compare(password, passwordHash));
  }

  /** `passwordHash` is `undefined` for an unknown user: the answer is no, after the same time. */
  async check(
    userName: string,
    password: string,
    passwordHash: string | undefined,
  ): Promise<boolean> {
    if (passwordHash === undefined) {
      await this.#compare(password, UNKNOWN_USER_HASH);
      return false;
    }
    const login = this.#logins.get(userName);
    if (login !== undefined && login.passwordHash === passwordHash) {
      if (timingSafeEqual(digestOf(login.salt, password), login.digest)) return true;
    }
    if (!(await this.#compare(password, passwordHash))) return false;
    if (this.#logins.size >= LIMITS.cachedLogins.value) this.#logins.clear();
    const salt = randomBytes(16);
    this.#logins.set(userName, { passwordHash, salt, digest: digestOf(salt, password) });
    return true;
  }
}

function digestOf(salt: Buffer, password: string): Buffer {
  return createHash('sha256').update(salt).update(password).digest();
}
