// Users, passwords and privileges.
import type { DefinitionStatement, Privilege, Unplaced } from './ast.ts';
import type { Cursor } from './cursor.ts';

/** Parses the rest of `CREATE USER …`. */
export function createUser(cursor: Cursor): Unplaced<DefinitionStatement> {
  const name = cursor.identifier();
  cursor.expect('WITH', 'PASSWORD');
  const password = cursor.string();
  const isAdmin = cursor.skip('WITH');
  if (isAdmin) cursor.expect('ALL', 'PRIVILEGES');
  return { kind: 'create-user', name, password, isAdmin };
}

/** Parses `SET PASSWORD FOR user = 'text'`. */
export function setPasswordStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('SET', 'PASSWORD', 'FOR');
  const name = cursor.identifier();
  cursor.expect('=');
  const password = cursor.string();
  return { kind: 'set-password', name, password };
}

/** Parses `GRANT … ON … TO …` and `GRANT ALL [PRIVILEGES] TO …`. */
export function grantStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('GRANT');
  const rights = privilegeAndDatabase(cursor, 'TO');
  const user = cursor.identifier();
  if (rights.database === undefined) return { kind: 'grant-admin', user };
  return { kind: 'grant', privilege: rights.privilege, database: rights.database, user };
}

/** Parses `REVOKE … ON … FROM …` and `REVOKE ALL [PRIVILEGES] FROM …`. */
export function revokeStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('REVOKE');
  const rights = privilegeAndDatabase(cursor, 'FROM');
  const user = cursor.identifier();
  if (rights.database === undefined) return { kind: 'revoke-admin', user };
  return { kind: 'revoke', privilege: rights.privilege, database: rights.database, user };
}

/**
 * Reads up to the word before the user's name. Without a database, the privilege is ALL:
 * administration.
 */
function privilegeAndDatabase(
  cursor: Cursor,
  beforeUser: 'TO' | 'FROM',
): { readonly privilege: Privilege; readonly database: string | undefined } {
  const privilege = privilegeWord(cursor);
  if (privilege === 'ALL' && cursor.skip(beforeUser)) return { privilege, database: undefined };
  if (!cursor.skip('ON')) cursor.failExpected(privilege === 'ALL' ? ['ON', beforeUser] : ['ON']);
  const database = cursor.identifier();
  cursor.expect(beforeUser);
  return { privilege, database };
}

function privilegeWord(cursor: Cursor): Privilege {
  const word = cursor.peek().fixed;
  if (word !== 'READ' && word !== 'WRITE' && word !== 'ALL') {
    return cursor.failExpected(['READ', 'WRITE', 'ALL [PRIVILEGES]']);
  }
  cursor.next();
  if (word === 'ALL') cursor.skip('PRIVILEGES');
  return word;
}
