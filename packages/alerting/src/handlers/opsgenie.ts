// opsgenie: OpsGenie's alert API, first version.
import { opsgenieHandler } from '@tidemark/pipeline';
import { checkUrl, defineSection, requireWhenEnabled, str } from '@tidemark/settings';
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
  name: 'opsgenie',
  doc: 'OpsGenie, first version of its API.',
  options: {
    ...OPSGENIE_SECTION,
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

export const opsgenie = deliver(opsgenieHandler, {
  section: section,
  send: (event, options, context) => send(opsgenieAlertOf(event, options), context),
  tests: [
    defineTest({
      name: 'opsgenie',
      options: OPSGENIE_TEST,
      run: (options, context) => send(opsgenieAlertOfTest(options), context),
    }),
  ],
});

async function send(alert: OpsgenieAlert, context: HandlerContext): Promise<void> {
  const config = enabledSection(context, section);
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
      teams: ownOrConfigured(alert.teams, config, 'teams'),
      recipients: ownOrConfigured(alert.recipients, config, 'recipients'),
    },
    expect: [200],
  });
}
