// Shared by both versions of OpsGenie's API: options, and the alert before it is converted to
// either format.
import type { opsgenieHandler } from '@tidemark/pipeline';
import { GLOBAL, enabled, list, secret, str } from '@tidemark/settings';
import type { OptionsOf } from '@tidemark/settings';
import { printDataJson } from '../event.ts';
import type { TopicEvent } from '../event.ts';

/** Options of both sections. */
export const OPSGENIE_SECTION = {
  ...enabled(),
  'api-key': secret('Key of the API.'),
  teams: list('Teams when a handler names none.'),
  recipients: list('Recipients when a handler names none.'),
  ...GLOBAL,
};

/** Options of both service tests. */
export const OPSGENIE_TEST = {
  teams: list('Teams.'),
  recipients: list('Recipients.'),
  'message-type': str('Level.', 'CRITICAL'),
  message: str('Text.', 'test opsgenie message'),
  'entity-id': str('Id of the alert.', 'testEntityID'),
};

/** An alert, independent of the version. */
export type OpsgenieAlert = {
  readonly id: string;
  readonly message: string;
  readonly level: string;
  readonly teams: readonly string[];
  readonly recipients: readonly string[];
  readonly details: Readonly<Record<string, string>>;
  readonly description: string;
};

/** The alert of an event. */
export function opsgenieAlertOf(
  event: TopicEvent,
  options: OptionsOf<typeof opsgenieHandler.options>,
): OpsgenieAlert {
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

/** The alert of a service test. */
export function opsgenieAlertOfTest(options: OptionsOf<typeof OPSGENIE_TEST>): OpsgenieAlert {
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

/** Teams or recipients of the handler, or else those of the configuration. */
export function ownOrConfigured(
  own: readonly string[],
  config: OptionsOf<typeof OPSGENIE_SECTION>,
  name: 'teams' | 'recipients',
): readonly string[] {
  return own.length > 0 ? own : (config[name] ?? []);
}
