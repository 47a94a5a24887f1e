// opsgenie2: sends to OpsGenie, second version of its API.
import { bool, list, str } from '@tidemark/settings/tables';
import type { Arguments } from '../evaluate/parameter.ts';
import { callRefusal, defineHandler, flag } from '../definition/handler-definition.ts';

export const opsgenie2Handler = defineHandler({
  kind: 'opsgenie2',
  doc: 'Sends to OpsGenie, second version of its API.',
  options: {
    'teams-list': list('Teams; none means the configured ones.'),
    'recipients-list': list('Recipients; none means the configured ones.'),
    recovery_action: str('What a recovery does; empty is as configured.'),
    details: bool('Send tags as details.'),
  },
  script: {
    name: 'opsGenie2',
    className: 'OpsGenie2Handler',
    properties: {
      teams: 'teams-list',
      recipients: 'recipients-list',
      // Existing engines know this property only in some versions and refuse other words.
      recoveryAction: { option: 'recovery_action', apply: (_, values) => recoveryActionOf(values) },
      details: flag('details'),
    },
  },
});

function recoveryActionOf(values: Arguments): string {
  const action = values.string(0);
  if (action !== 'notes' && action !== 'close') {
    throw callRefusal(`recovery action must be 'notes' or 'close', got ${action}`);
  }
  return action;
}
