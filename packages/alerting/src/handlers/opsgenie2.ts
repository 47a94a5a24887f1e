// opsgenie2: OpsGenie's alert API, second version.
import { opsgenie2Handler } from '@tidemark/pipeline';
import { InvalidRequest } from '@tidemark/core';
import { bool, checkUrl, defineSection, requireWhenEnabled, str } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';
import { defineTest, deliver } from '../handler.ts';
import {
  OPSGENIE_SECTION,
  OPSGENIE_TEST,
  opsgenieAlertOf,
  opsgenieAlertOfTest,
  ownOrConfigured,
} from './opsgenie-alert.ts';
import type { OpsgenieAlert } from './opsgenie-alert.ts';
import { enabledSection, postJson } from './service.ts';

const section = defineSection({
  name: 'opsgenie2',
  doc: 'OpsGenie, second version of its API.',
  options: {
    ...OPSGENIE_SECTION,
    url: str('URL of alerts.', 'https://api.opsgenie.com/v2/alerts'),
    recovery_action: str('Effect of a recovery: `notes` or `close`.', 'notes'),
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

export const opsgenie2 = deliver(opsgenie2Handler, {
  section: section,
  validate: (options) => checkRecoveryAction(options.recovery_action),
  send: (event, options, context) =>
    send(context, opsgenieAlertOf(event, options), {
      recoveryAction: options.recovery_action,
      hasDetails: options.details,
    }),
  tests: [
    defineTest({
      name: 'opsgenie2',
      options: OPSGENIE_TEST,
      run: async (options, context) => {
        if (context.section(section)?.enabled !== true) {
          throw new InvalidRequest('failed to prepare API request: service is not enabled');
        }
        await send(context, opsgenieAlertOfTest(options), {
          recoveryAction: '',
          hasDetails: false,
        });
      },
    }),
  ],
});

const PRIORITIES: Readonly<Record<string, string>> = { INFO: 'P5', WARNING: 'P3', CRITICAL: 'P1' };

async function send(
  context: HandlerContext,
  alert: OpsgenieAlert,
  choice: { readonly recoveryAction: string; readonly hasDetails: boolean },
): Promise<void> {
  const config = enabledSection(context, section);
  const alias = Buffer.from(alert.id).toString('base64url');
  const base = config.url.replace(/\/+$/, '');
  const action = choice.recoveryAction || config.recovery_action || 'notes';
  const isRecovery = alert.level === 'OK';
  const responders = [
    ...ownOrConfigured(alert.teams, config, 'teams').map((name) => ({ name, type: 'team' })),
    ...ownOrConfigured(alert.recipients, config, 'recipients').map((username) => ({
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
