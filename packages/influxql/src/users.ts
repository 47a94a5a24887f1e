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
  return rights(cursor, 'grant', 'TO');
}

/** Parses `REVOKE … ON … FROM …` and `REVOKE ALL [PRIVILEGES] FROM …`. */
export function revokeStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('REVOKE');
  return rights(cursor, 'revoke', 'FROM');
}

/** Without a database, ALL is administration. */
function rights(
  cursor: Cursor,
  kind: 'grant' | 'revoke',
  beforeUser: 'TO' | 'FROM',
): Unplaced<DefinitionStatement> {
  const privilege = privilegeWord(cursor);
  if (privilege === 'ALL' && cursor.skip(beforeUser)) {
    return { kind: `${kind}-admin`, user: cursor.identifier() };
  }
  if (!cursor.skip('ON')) cursor.failExpected(privilege === 'ALL' ? ['ON', beforeUser] : ['ON']);
  const database = cursor.identifier();
  cursor.expect(beforeUser);
  return { kind, privilege, database, user: cursor.identifier() };
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
