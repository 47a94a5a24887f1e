// opsgenie, opsgenie2: OpsGenie's alert API, first and second version.
import { InvalidRequest } from '@tidemark/core';
import {
  flag,
  strings,
  text,
  bool,
  checkUrl,
  enabled,
  GLOBAL,
  list,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { SectionSpec, Options, OptionSpec } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { TopicEvent } from '../event.ts';
import type { HandlerContext, HandlerKind } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const common: readonly OptionSpec[] = [
  enabled(),
  secret('api-key', 'Key of the API.'),
  list('teams', 'Teams when a handler names none.'),
  list('recipients', 'Recipients when a handler names none.'),
  GLOBAL,
];

const section1: SectionSpec = {
  name: 'opsgenie',
  doc: 'OpsGenie, first version of its API.',
  options: [
    ...common,
    str('url', 'URL of alerts.', 'https://api.opsgenie.com/v1/json/alert'),
    str('recovery_url', 'URL of recoveries.', 'https://api.opsgenie.com/v1/json/alert/note'),
  ],
  validate: (options) =>
    requireWhenEnabled(options, {
      url: 'url cannot be empty',
      recovery_url: 'recovery_url cannot be empty',
    }) ??
    checkUrl(options, 'url') ??
    checkUrl(options, 'recovery_url'),
};

const section2: SectionSpec = {
  name: 'opsgenie2',
  doc: 'OpsGenie, second version of its API.',
  options: [
    ...common,
    str('url', 'URL of alerts.', 'https://api.opsgenie.com/v2/alerts'),
    str('recovery_action', 'What a recovery does: `notes` or `close`.', 'notes'),
    { ...bool('details', 'Send tags as details.'), isShownWhenSet: true },
  ],
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ??
    checkUrl(options, 'url') ??
    checkRecoveryAction(text(options, 'recovery_action')),
};

function checkRecoveryAction(action: string): string | undefined {
  return ['notes', 'close', ''].includes(action)
    ? undefined
    : `invalid recovery_action ${JSON.stringify(action)}, must be 'notes' or 'close'`;
}

const lists = [
  list('teams-list', 'Teams; none means the configured ones.'),
  list('recipients-list', 'Recipients; none means the configured ones.'),
];

const testOptions = [
  list('teams', 'Teams.'),
  list('recipients', 'Recipients.'),
  str('message-type', 'Level.', 'CRITICAL'),
  str('message', 'Text.', 'test opsgenie message'),
  str('entity-id', 'Id of the alert.', 'testEntityID'),
];

/** An alert in neither version's words. */
type Alert = {
  readonly id: string;
  readonly message: string;
  readonly level: string;
  readonly teams: readonly string[];
  readonly recipients: readonly string[];
  readonly details: Readonly<Record<string, string>>;
  readonly description: string;
};

function alertOf(event: TopicEvent, options: Options): Alert {
  return {
    id: event.id,
    message: event.message,
    level: event.level,
    teams: strings(options, 'teams-list'),
    recipients: strings(options, 'recipients-list'),
    details: event.context.tags,
    description: printDataJson(event.data),
  };
}

function alertOfTest(options: Options): Alert {
  return {
    id: text(options, 'entity-id'),
    message: text(options, 'message'),
    level: text(options, 'message-type'),
    teams: strings(options, 'teams'),
    recipients: strings(options, 'recipients'),
    details: {},
    description: '',
  };
}

function choose(own: readonly string[], config: Options, name: string): readonly string[] {
  return own.length > 0 ? own : strings(config, name);
}

export const opsgenie: HandlerKind = {
  kind: 'opsgenie',
  doc: 'Sends to OpsGenie, first version of its API.',
  options: lists,
  section: section1,
  send: (event, options, context) => send1(alertOf(event, options), context),
  tests: [
    {
      name: 'opsgenie',
      options: testOptions,
      run: (options, context) => send1(alertOfTest(options), context),
    },
  ],
};

async function send1(alert: Alert, context: HandlerContext): Promise<void> {
  const config = enabledSection(context, 'opsgenie');
  const isRecovery = alert.level === 'OK';
  const base = text(config, isRecovery ? 'recovery_url' : 'url').replace(/\/+$/, '');
  await postJson(context, {
    service: 'OpsGenie',
    url: `${base}/`,
    json: {
      apiKey: text(config, 'api-key'),
      entity: alert.id,
      alias: alert.id,
      message: alert.message,
      note: '',
      monitoring_tool: 'kapacitor',
      details: { Level: isRecovery ? 'RECOVERY' : alert.level, 'Monitoring Tool': 'Kapacitor' },
      description: alert.description,
      teams: choose(alert.teams, config, 'teams'),
      recipients: choose(alert.recipients, config, 'recipients'),
    },
    expect: [200],
  });
}

export const opsgenie2: HandlerKind = {
  kind: 'opsgenie2',
  doc: 'Sends to OpsGenie, second version of its API.',
  options: [
    ...lists,
    str('recovery_action', 'What a recovery does; empty is as configured.'),
    bool('details', 'Send tags as details.'),
  ],
  section: section2,
  validate: (options) => checkRecoveryAction(text(options, 'recovery_action')),
  send: (event, options, context) =>
    send2(context, alertOf(event, options), {
      recoveryAction: text(options, 'recovery_action'),
      hasDetails: flag(options, 'details'),
    }),
  tests: [
    {
      name: 'opsgenie2',
      options: testOptions,
      run: async (options, context) => {
        if (context.section('opsgenie2')?.['enabled'] !== true) {
          throw new InvalidRequest('failed to prepare API request: service is not enabled');
        }
        await send2(context, alertOfTest(options), { recoveryAction: '', hasDetails: false });
      },
    },
  ],
};

const PRIORITIES: Readonly<Record<string, string>> = { INFO: 'P5', WARNING: 'P3', CRITICAL: 'P1' };

async function send2(
  context: HandlerContext,
  alert: Alert,
  choice: { readonly recoveryAction: string; readonly hasDetails: boolean },
): Promise<void> {
  const config = enabledSection(context, 'opsgenie2');
  const alias = Buffer.from(alert.id).toString('base64url');
  const base = text(config, 'url').replace(/\/+$/, '');
  const action = choice.recoveryAction || text(config, 'recovery_action') || 'notes';
  const isRecovery = alert.level === 'OK';
  const responders = [
    ...choose(alert.teams, config, 'teams').map((name) => ({ name, type: 'team' })),
    ...choose(alert.recipients, config, 'recipients').map((username) => ({
      username,
      type: 'user',
    })),
  ];
  await postJson(context, {
    service: 'OpsGenie2',
    url: isRecovery ? `${base}/${alias}/${action}?identifierType=alias` : base,
    headers: { Authorization: `GenieKey ${text(config, 'api-key')}` },
    json: isRecovery
      ? { note: alert.message }
      : {
          entity: alert.id,
          alias,
          message: alert.message,
          note: '',
          priority: PRIORITIES[alert.level] ?? 'P5',
          description: alert.description,
          details:
            choice.hasDetails || flag(config, 'details')
              ? { ...alert.details, 'Monitoring Tool': 'Kapacitor', Level: alert.level }
              : { 'Monitoring Tool': 'Kapacitor', Level: alert.level },
          responders,
        },
    expect: [200, 202],
  });
}
