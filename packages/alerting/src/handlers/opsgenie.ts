// opsgenie, opsgenie2: OpsGenie's alert API, first and second version.
import { opsgenieHandler, opsgenie2Handler } from '@tidemark/pipeline';
import { InvalidRequest } from '@tidemark/core';
import {
  GLOBAL,
  bool,
  checkUrl,
  defineSection,
  enabled,
  list,
  requireWhenEnabled,
  secret,
  str,
} from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { TopicEvent } from '../event.ts';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import { enabledSection, postJson } from './service.ts';

const common = {
  ...enabled(),
  'api-key': secret('Key of the API.'),
  teams: list('Teams when a handler names none.'),
  recipients: list('Recipients when a handler names none.'),
  ...GLOBAL,
};

const section1 = defineSection({
  name: 'opsgenie',
  doc: 'OpsGenie, first version of its API.',
  options: {
    ...common,
    url: str('URL of alerts.', 'https://api.opsgenie.com/v1/json/alert'),
    recovery_url: str('URL of recoveries.', 'https://api.opsgenie.com/v1/json/alert/note'),
  },
  validate: (options) =>
    requireWhenEnabled(options, {
      url: 'url cannot be empty',
      recovery_url: 'recovery_url cannot be empty',
    }) ??
    checkUrl('url', options.url) ??
    checkUrl('recovery_url', options.recovery_url),
});

const section2 = defineSection({
  name: 'opsgenie2',
  doc: 'OpsGenie, second version of its API.',
  options: {
    ...common,
    url: str('URL of alerts.', 'https://api.opsgenie.com/v2/alerts'),
    recovery_action: str('What a recovery does: `notes` or `close`.', 'notes'),
    details: { ...bool('Send tags as details.'), isShownWhenSet: true },
  },
  validate: (options) =>
    requireWhenEnabled(options, { url: 'url cannot be empty' }) ??
    checkUrl('url', options.url) ??
    checkRecoveryAction(options.recovery_action),
});

function checkRecoveryAction(action: string): string | undefined {
  return ['notes', 'close', ''].includes(action)
    ? undefined
    : `invalid recovery_action ${JSON.stringify(action)}, must be 'notes' or 'close'`;
}

const testOptions = {
  teams: list('Teams.'),
  recipients: list('Recipients.'),
  'message-type': str('Level.', 'CRITICAL'),
  message: str('Text.', 'test opsgenie message'),
  'entity-id': str('Id of the alert.', 'testEntityID'),
};

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

function alertOf(event: TopicEvent, options: OptionsOf<typeof opsgenieHandler.options>): Alert {
  return {
    id: event.id,
    message: event.message,
    level: event.level,
    teams: options['teams-list'] ?? [],
    recipients: options['recipients-list'] ?? [],
    details: event.context.tags,
    description: printDataJson(event.data),
  };
}

function alertOfTest(options: OptionsOf<typeof testOptions>): Alert {
  return {
    id: options['entity-id'],
    message: options.message,
    level: options['message-type'],
    teams: options.teams ?? [],
    recipients: options.recipients ?? [],
    details: {},
    description: '',
  };
}

function choose(
  own: readonly string[],
  config: OptionsOf<typeof common>,
  name: 'teams' | 'recipients',
): readonly string[] {
  return own.length > 0 ? own : (config[name] ?? []);
}

export const opsgenie = deliver(opsgenieHandler, {
  section: section1,
  send: (event, options, context) => send1(alertOf(event, options), context),
  tests: [
    defineTest({
      name: 'opsgenie',
      options: testOptions,
      run: (options, context) => send1(alertOfTest(options), context),
    }),
  ],
});

async function send1(alert: Alert, context: HandlerContext): Promise<void> {
  const config = enabledSection(context, section1);
  const isRecovery = alert.level === 'OK';
  const base = config[isRecovery ? 'recovery_url' : 'url'].replace(/\/+$/, '');
  await postJson(context, {
    service: 'OpsGenie',
    url: `${base}/`,
    json: {
      apiKey: config['api-key'],
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

export const opsgenie2 = deliver(opsgenie2Handler, {
  section: section2,
  validate: (options) => checkRecoveryAction(options.recovery_action),
  send: (event, options, context) =>
    send2(context, alertOf(event, options), {
      recoveryAction: options.recovery_action,
      hasDetails: options.details,
    }),
  tests: [
    defineTest({
      name: 'opsgenie2',
      options: testOptions,
      run: async (options, context) => {
        if (context.section(section2)?.enabled !== true) {
          throw new InvalidRequest('failed to prepare API request: service is not enabled');
        }
        await send2(context, alertOfTest(options), { recoveryAction: '', hasDetails: false });
      },
    }),
  ],
});

const PRIORITIES: Readonly<Record<string, string>> = { INFO: 'P5', WARNING: 'P3', CRITICAL: 'P1' };

async function send2(
  context: HandlerContext,
  alert: Alert,
  choice: { readonly recoveryAction: string; readonly hasDetails: boolean },
): Promise<void> {
  const config = enabledSection(context, section2);
  const alias = Buffer.from(alert.id).toString('base64url');
  const base = config.url.replace(/\/+$/, '');
  const action = choice.recoveryAction || config.recovery_action || 'notes';
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
    headers: { Authorization: `GenieKey ${config['api-key']}` },
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
            choice.hasDetails || config.details
              ? { ...alert.details, 'Monitoring Tool': 'Kapacitor', Level: alert.level }
              : { 'Monitoring Tool': 'Kapacitor', Level: alert.level },
          responders,
        },
    expect: [200, 202],
  });
}
