// All kinds of handlers, one row each. The row is all that the service, the configuration, the
// service tests and the reference page know about a kind.
import type { HandlerKind } from './handler.ts';
import { aggregate, publish, stateChangesOnly, throttle } from './handlers/flow.ts';
import { alerta } from './handlers/alerta.ts';
import { bigpanda } from './handlers/bigpanda.ts';
import { chat } from './handlers/chat.ts';
import { discord } from './handlers/discord.ts';
import { exec } from './handlers/exec.ts';
import { hipchat } from './handlers/hipchat.ts';
import { kafka } from './handlers/kafka.ts';
import { log } from './handlers/log.ts';
import { mqtt } from './handlers/mqtt.ts';
import { post } from './handlers/post.ts';
import { pushover } from './handlers/pushover.ts';
import { sensu } from './handlers/sensu.ts';
import { servicenow } from './handlers/servicenow.ts';
import { smtp } from './handlers/smtp.ts';
import { snmptrap } from './handlers/snmptrap.ts';
import { talk } from './handlers/talk.ts';
import { tcp } from './handlers/tcp.ts';
import { teams } from './handlers/teams.ts';
import { telegram } from './handlers/telegram.ts';
import { victorops } from './handlers/victorops.ts';
import { zenoss } from './handlers/zenoss.ts';
import { opsgenie, opsgenie2 } from './handlers/opsgenie.ts';
import { pagerduty, pagerduty2 } from './handlers/pagerduty.ts';

export const HANDLER_KINDS: readonly HandlerKind[] = [
  aggregate,
  alerta,
  bigpanda,
  chat,
  discord,
  exec,
  hipchat,
  kafka,
  log,
  mqtt,
  opsgenie,
  opsgenie2,
  pagerduty,
  pagerduty2,
  post,
  publish,
  pushover,
  sensu,
  servicenow,
  smtp,
  snmptrap,
  stateChangesOnly,
  talk,
  tcp,
  teams,
  telegram,
  throttle,
  victorops,
  zenoss,
];

const byName = new Map<string, HandlerKind>();
for (const row of HANDLER_KINDS) {
  const names = [row.kind, ...(row.aliases ?? [])];
  for (const name of names) byName.set(name.toLowerCase(), row);
}

/** The kind of that name, which may be an older one. */
export function findHandlerKind(name: string): HandlerKind | undefined {
  return byName.get(name.toLowerCase());
}
