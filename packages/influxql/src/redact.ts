// Redacts passwords in query texts, so that logs and SHOW QUERIES can show the rest. Also works on
// texts that do not parse, because mistyped statements contain passwords too.
import { Lexer } from './lexer.ts';
import type { Token } from './token.ts';

const REDACTED = '[REDACTED]';

/**
 * Replaces what follows `PASSWORD` and `PASSWORD FOR name =` by `[REDACTED]`. An unterminated
 * string is redacted up to the end of its line, a text without quotes up to the next blank or
 * semicolon.
 */
export function redactPasswords(text: string): string {
  let result = '';
  let copied = 0;
  for (const { start, end } of secretsOf(text)) {
    result += text.slice(copied, start) + REDACTED;
    copied = end;
  }
  return result + text.slice(copied);
}

/**
 * The message about a text that does not parse, without a password that it may name as an
 * unexpected token: `found secret, expected string`.
 */
export function redactInMessage(text: string, message: string): string {
  for (const { start, end } of secretsOf(text)) {
    const secret = text.slice(start, end);
    for (const shown of [secret, secret.replace(/^['"]/, '').replace(/['"]$/, '')]) {
      const found = `found ${shown},`;
      if (message.startsWith(found)) return `found ${REDACTED},${message.slice(found.length)}`;
    }
  }
  return message;
}

type Range = { readonly start: number; readonly end: number };

/** The positions of passwords, in order and without overlaps. */
function* secretsOf(text: string): Iterable<Range> {
  const lexer = new Lexer(text);
  for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) {
    if (token.fixed !== 'PASSWORD') continue;
    const secret = secretBehind(lexer, text);
    if (secret === undefined) continue;
    yield secret;
    lexer.seek(secret.end);
  }
}

function secretBehind(lexer: Lexer, text: string): Range | undefined {
  let token = lexer.next();
  if (token.fixed === 'FOR') {
    lexer.next();
    token = lexer.next();
    if (token.fixed === '=') token = lexer.next();
  } else if (token.fixed === '=') {
    token = lexer.next();
  }
  if (token.kind === 'end' || token.fixed === ';') return undefined;
  return { start: token.start, end: endOfSecret(token, text) };
}

function endOfSecret(token: Token, text: string): number {
  if (token.kind === 'string') return token.end;
  // Losing the rest of the line is better than showing a part of a password.
  const isBroken = token.kind === 'bad-string' || token.kind === 'bad-escape';
  const rest = /^[^\s;]*/.exec(text.slice(token.start));
  const line = /^[^\r\n]*/.exec(text.slice(token.start));
  return token.start + ((isBroken ? line : rest)?.[0].length ?? 0);
}
