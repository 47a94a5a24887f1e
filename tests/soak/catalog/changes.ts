// Changes of the catalog that a client asks for: few names, so that they meet.
import {
  alterPolicy,
  createDatabase,
  createPolicy,
  dropDatabase,
  dropPolicy,
} from '../../../packages/tsdb/src/catalog/databases.ts';
import type { CatalogState } from '../../../packages/tsdb/src/catalog/model.ts';
import {
  createContinuousQuery,
  dropContinuousQuery,
} from '../../../packages/tsdb/src/catalog/subscriptions.ts';
import { createToken, revokeToken } from '../../../packages/tsdb/src/catalog/tokens.ts';
import { createUser, dropUser, grant, setAdmin } from '../../../packages/tsdb/src/catalog/users.ts';

/** Some four of these fill a journal. */
const LONG_TEXT = 9000;

export type Change = (state: CatalogState) => CatalogState;

/** `pick` gives an integer in [0, end). A change may throw, or change nothing. */
export function randomChange(pick: (end: number) => number): Change {
  const name = `d${pick(3)}`;
  const user = `u${pick(2)}`;
  const number = pick(1000);
  const policy = { database: name, name: `p${pick(2)}` };
  const options = { durationNanos: BigInt(1 + pick(5)) * 86_400_000_000_000n };
  const query = `c${pick(2)}`;
  const changes: readonly Change[] = [
    (state) => createDatabase(state, { name, hasOptions: false, options: {}, createsPolicy: true }),
    (state) => dropDatabase(state, name),
    (state) => createPolicy(state, { ...policy, options }),
    (state) => alterPolicy(state, { ...policy, options }),
    (state) => dropPolicy(state, policy),
    (state) => createUser(state, { name: user, passwordHash: `$${number}`, isAdmin: false }),
    (state) => setAdmin(state, user, number % 2 === 0),
    (state) => grant(state, { user, database: name, privilege: 'READ' }),
    (state) => dropUser(state, user),
    (state) => revokeToken(state, `t${number % 2}`),
    (state) =>
      createToken(state, {
        name: `t${number % 2}`,
        userName: user,
        digest: String(number),
        now: BigInt(number),
      }),
    (state) => dropContinuousQuery(state, { database: name, name: query }),
    (state) =>
      createContinuousQuery(state, name, { name: query, text: longText(number), owner: user }),
  ];
  // Databases and long texts are asked for more often: without these, little happens.
  const at = pick(changes.length + 6);
  return changes[at] ?? (at % 2 === 0 ? changes[0]! : changes.at(-1)!);
}

function longText(number: number): string {
  return String(number).padEnd(LONG_TEXT, '.');
}
