// Opens topics, events and handlers, with the services that handlers use.
import { AlertService, AlertStore, connectionCache } from '@tidemark/alerting';
import type { AlertServiceOptions } from '@tidemark/alerting';
import { InvalidRequest, TIDEMARK_VERSION } from '@tidemark/core';
import type { OpenParts } from '@tidemark/core';
import { isReference } from '@tidemark/settings';
import { listenAddress } from './config/exposure.ts';
import { checkTemplate, renderTemplate } from './services/render.ts';
import type { Stores } from './open-stores.ts';
import { alertTables } from './store/alert-tables.ts';
import { StoredHistory } from './store/stored-history.ts';
import { Ticker } from './ticker.ts';

/** Interval of saving the history of alerts, which a crash may lose. */
const HISTORY_SAVE_MS = 2000;

export type Alerting = {
  readonly alerts: AlertService;
  readonly context: AlertServiceOptions['context'];
};

/** Opens the topics; waiting events are delivered from then on. Closed with `parts`. */
export function openAlerting(stores: Stores, parts: OpenParts): Alerting {
  const { config, clock, metadata, logs, redactor } = stores;
  const connections = connectionCache(clock);
  parts.add(() => connections.close());
  const context = handlerContext(stores, connections);
  const log = logs.logger('alert');
  const alerts = new AlertService({
    store: new AlertStore(alertTables(metadata), { clock, log }),
    context,
    clock,
    log,
    redact: redactor.redactOwn,
    random: Math.random,
    isPersistent: config.alert.persistTopics,
    queueLength: config.alert.topicBufferLength,
    disabledKinds: new Set(config.alert.disabledHandlers),
    mayDeliver: stores.shared?.mayAct,
  });
  const history = new StoredHistory(alerts.history, metadata, log);
  history.load();
  parts.add(() => history.save());
  const { stop } = stores;
  parts.add(() => {
    // A task may need an event of any age to know that it was published.
    if (stop.areStatesSaved) alerts.forgetOld();
    return alerts.close(stop.leftFor('deliveries'));
  });
  alerts.open();
  const ticker = new Ticker(clock, HISTORY_SAVE_MS, () => history.save());
  parts.add(() => ticker.close());
  return { alerts, context };
}

function handlerContext(
  { config, clock, http, overrides, access, resolveSecret }: Stores,
  connections: ReturnType<typeof connectionCache>,
): Alerting['context'] {
  const { hostname } = config[''];
  return {
    section: (section, element) => overrides.section(section, element),
    http,
    clock,
    render: renderTemplate,
    checkTemplate,
    access,
    resolveSecret: (text) => {
      const refused = isReference(text) ? access.refuseSecret(text) : undefined;
      if (refused !== undefined) throw new InvalidRequest(refused);
      return resolveSecret(text);
    },
    server: {
      hostname,
      url: `http://${hostname}:${listenAddress(config.http.bindAddress).port}`,
      product: `tidemark ${TIDEMARK_VERSION}`,
    },
    connections,
  };
}
