import { expect, test } from 'vitest';
import { isSignedWithSecret, userOfToken } from './web-token.ts';

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

test.each(['__proto__', 'constructor', 'toString', 'none', 'RS256', 7, null])(
  'a token with the algorithm %j is none of the shared secret',
  (alg) => {
    const token = `${encode({ alg })}.${encode({ username: 'root', exp: 9e9 })}.x`;
    expect(isSignedWithSecret(token)).toBe(false);
    expect(() => userOfToken(token, 'secret', 0)).toThrow(/unexpected signing method/);
  },
);
