// Changes of subscriptions and continuous queries.
import { Conflict, InvalidRequest, NotFound } from '@tidemark/core';

import {
  CONTINUOUS_QUERY_EXISTS,
  invalidSubscriptionUrl,
  SUBSCRIPTION_EXISTS,
  SUBSCRIPTION_NOT_FOUND,
} from '../compat/messages.ts';
import { requireDatabase, requirePolicy } from './databases.ts';
import { withDatabase, withPolicy } from './model.ts';
import type { CatalogState, ContinuousQuery, Subscription } from './model.ts';

type SubscriptionPlace = { readonly database: string; readonly retentionPolicy: string };

function policyOf(state: CatalogState, { database, retentionPolicy }: SubscriptionPlace) {
  return requirePolicy(state, { database, name: retentionPolicy });
}

/** `udp`, `http` or `https` with host and port. */
function checkDestination(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // `URL` drops the port that is a scheme's default, so its presence is looked up in the text.
  const hasPort = /^[a-z]+:\/\/[^/?#]*:\d+(?:[/?#]|$)/i.test(text);
  const isKnown = url !== undefined && ['udp:', 'http:', 'https:'].includes(url.protocol);
  if (!isKnown || url.hostname === '' || !hasPort) {
    throw new InvalidRequest(invalidSubscriptionUrl(text));
  }
}

export function createSubscription(
  state: CatalogState,
  { name, mode, destinations, ...place }: Subscription & SubscriptionPlace,
): CatalogState {
  for (const destination of destinations) checkDestination(destination);
  const { database, policy } = policyOf(state, place);
  if (policy.subscriptions.some((other) => other.name === name)) {
    throw new Conflict(SUBSCRIPTION_EXISTS);
  }
  const subscriptions = [...policy.subscriptions, { name, mode, destinations }];
  return withPolicy(state, database, { ...policy, subscriptions });
}

export function dropSubscription(
  state: CatalogState,
  { name, ...place }: SubscriptionPlace & { readonly name: string },
): CatalogState {
  const { database, policy } = policyOf(state, place);
  const subscriptions = policy.subscriptions.filter((other) => other.name !== name);
  if (subscriptions.length === policy.subscriptions.length) {
    throw new NotFound(SUBSCRIPTION_NOT_FOUND);
  }
  return withPolicy(state, database, { ...policy, subscriptions });
}

/** Creating the same query again is success; another one under an existing name is not. */
export function createContinuousQuery(
  state: CatalogState,
  databaseName: string,
  query: ContinuousQuery,
): CatalogState {
  const database = requireDatabase(state, databaseName);
  const existing = database.continuousQueries.find((other) => other.name === query.name);
  if (existing !== undefined) {
    if (existing.text.toLowerCase() === query.text.toLowerCase()) return state;
    throw new Conflict(CONTINUOUS_QUERY_EXISTS);
  }
  return withDatabase(state, {
    ...database,
    continuousQueries: [...database.continuousQueries, query],
  });
}

/** Missing is success, even a missing database. */
export function dropContinuousQuery(
  state: CatalogState,
  wanted: { readonly database: string; readonly name: string },
): CatalogState {
  const database = state.databases.get(wanted.database);
  if (database === undefined) return state;
  return withDatabase(state, {
    ...database,
    continuousQueries: database.continuousQueries.filter((other) => other.name !== wanted.name),
  });
}
