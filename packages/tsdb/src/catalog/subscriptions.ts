// Changes of subscriptions and continuous queries.
import { Conflict, InvalidRequest, NotFound } from '@tidemark/core';

import {
  CONTINUOUS_QUERY_EXISTS,
  invalidSubscriptionUrl,
  policyNotFound,
  SUBSCRIPTION_EXISTS,
  SUBSCRIPTION_NOT_FOUND,
} from '../compat/messages.ts';
import { requireDatabase } from './databases.ts';
import { findPolicy, withDatabase } from './model.ts';
import type { CatalogState, ContinuousQuery, Subscription } from './model.ts';

type SubscriptionPlace = { readonly database: string; readonly policy: string };

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
  place: SubscriptionPlace,
  subscription: Subscription,
): CatalogState {
  for (const destination of subscription.destinations) checkDestination(destination);
  const database = requireDatabase(state, place.database);
  const policy = findPolicy(database, place.policy);
  if (policy === undefined) throw new NotFound(policyNotFound(place.policy));
  if (policy.subscriptions.some((other) => other.name === subscription.name)) {
    throw new Conflict(SUBSCRIPTION_EXISTS);
  }
  const altered = { ...policy, subscriptions: [...policy.subscriptions, subscription] };
  return withDatabase(state, {
    ...database,
    policies: database.policies.map((other) => (other === policy ? altered : other)),
  });
}

export function dropSubscription(
  state: CatalogState,
  place: SubscriptionPlace,
  name: string,
): CatalogState {
  const database = requireDatabase(state, place.database);
  const policy = findPolicy(database, place.policy);
  if (policy === undefined) throw new NotFound(policyNotFound(place.policy));
  const subscriptions = policy.subscriptions.filter((other) => other.name !== name);
  if (subscriptions.length === policy.subscriptions.length) {
    throw new NotFound(SUBSCRIPTION_NOT_FOUND);
  }
  return withDatabase(state, {
    ...database,
    policies: database.policies.map((other) =>
      other === policy ? { ...policy, subscriptions } : other,
    ),
  });
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
  databaseName: string,
  name: string,
): CatalogState {
  const database = state.databases.get(databaseName);
  if (database === undefined) return state;
  return withDatabase(state, {
    ...database,
    continuousQueries: database.continuousQueries.filter((other) => other.name !== name),
  });
}
