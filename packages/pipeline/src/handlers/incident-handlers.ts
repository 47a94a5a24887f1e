// Handlers that keep incidents in other systems.
import { parameter, variadic } from '../evaluate/parameter.ts';
import {
  appended,
  callRefusal,
  duration,
  entry,
  flag,
  integer,
  list,
  text,
} from '../definition/handler-definition.ts';
import type { HandlerProperty, HandlerRow } from '../definition/handler-definition.ts';

/** `.link('https://…', 'text')`, repeatable; the text may be absent. */
const link: HandlerProperty = {
  name: 'link',
  summary: 'adds a link; address and text are templates',
  style: 'call',
  parameters: [parameter('href', 'string'), variadic('text', 'string')],
  apply: (options, values) => {
    const label = values.strings(1)[0];
    const item = { href: values.string(0), ...(label === undefined ? {} : { text: label }) };
    return appended(options, 'links', [item]);
  },
};

/** Existing engines know this property only in some versions and refuse other words. */
const recoveryAction: HandlerProperty = {
  ...text('recoveryAction', 'recovery_action', 'what a recovery does: notes or close'),
  apply: (options, values) => {
    const action = values.string(0);
    if (action !== 'notes' && action !== 'close') {
      throw callRefusal(`recovery action must be 'notes' or 'close', got ${action}`);
    }
    return { ...options, recovery_action: action };
  },
};

const pagerDutyKey = 'key of the service; the configured one if not given';

export const INCIDENT_HANDLERS: readonly HandlerRow[] = [
  {
    name: 'alerta',
    aliases: [],
    kind: 'alerta',
    className: 'AlertaHandler',
    summary: 'sends alerts to Alerta',
    parameters: [],
    create: () => ({}),
    properties: [
      text('token', 'token', 'token; the configured one if not given'),
      text('tokenPrefix', 'token-prefix', 'word before the token'),
      text('resource', 'resource', 'template of the resource'),
      text('event', 'event', 'template of the event'),
      text('environment', 'environment', 'template of the environment'),
      text('group', 'group', 'template of the group'),
      text('value', 'value', 'template of the value'),
      text('origin', 'origin', 'origin; the configured one if not given'),
      list('services', 'service', 'affected services'),
      list('correlated', 'correlate', 'events that belong together'),
      entry('attribute', 'attributes', 'adds an attribute'),
      duration('timeout', 'timeout', 'when the alert expires'),
    ],
  },
  {
    name: 'bigPanda',
    aliases: [],
    kind: 'bigpanda',
    className: 'BigPandaHandler',
    summary: 'sends alerts to BigPanda',
    parameters: [],
    create: () => ({}),
    properties: [
      text('appKey', 'app-key', 'application; the configured one if not given'),
      text('host', 'host', 'template of the host'),
      text('primaryProperty', 'primary-property', 'what identifies the object'),
      text('secondaryProperty', 'secondary-property', 'what identifies the check'),
      entry('attribute', 'attributes', 'adds an attribute'),
    ],
  },
  {
    name: 'opsGenie',
    aliases: [],
    kind: 'opsgenie',
    className: 'OpsGenieHandler',
    summary: 'sends alerts to the first interface of OpsGenie',
    parameters: [],
    create: () => ({}),
    properties: [
      list('teams', 'teams-list', 'teams; the configured ones if none are given'),
      list('recipients', 'recipients-list', 'people; the configured ones if none are given'),
    ],
  },
  {
    name: 'opsGenie2',
    aliases: [],
    kind: 'opsgenie2',
    className: 'OpsGenie2Handler',
    summary: 'sends alerts to the second interface of OpsGenie',
    parameters: [],
    create: () => ({}),
    properties: [
      list('teams', 'teams-list', 'teams; the configured ones if none are given'),
      list('recipients', 'recipients-list', 'people; the configured ones if none are given'),
      recoveryAction,
      flag('details', 'details', 'send the details instead of the message'),
    ],
  },
  {
    name: 'pagerDuty',
    aliases: [],
    kind: 'pagerduty',
    className: 'PagerDutyHandler',
    summary: 'sends events to the first interface of PagerDuty',
    parameters: [],
    create: () => ({}),
    properties: [text('serviceKey', 'service-key', pagerDutyKey)],
  },
  {
    name: 'pagerDuty2',
    aliases: [],
    kind: 'pagerduty2',
    className: 'PagerDuty2Handler',
    summary: 'sends events to the second interface of PagerDuty',
    parameters: [],
    create: () => ({}),
    properties: [
      text('routingKey', 'routing-key', pagerDutyKey),
      text('serviceKey', 'routing-key', pagerDutyKey),
      link,
    ],
  },
  {
    name: 'sensu',
    aliases: [],
    kind: 'sensu',
    className: 'SensuHandler',
    summary: 'sends check results to Sensu',
    parameters: [],
    create: () => ({}),
    properties: [
      text('source', 'source', 'template of the source'),
      list('handlers', 'handlers', "Sensu's handlers"),
      entry('metadata', 'metadata', 'adds a field to the result'),
    ],
  },
  {
    name: 'serviceNow',
    aliases: [],
    kind: 'servicenow',
    className: 'ServiceNowHandler',
    summary: 'sends events to ServiceNow',
    parameters: [],
    create: () => ({}),
    properties: [
      text('url', 'url', 'address; the configured one if not given'),
      text('source', 'source', 'source; the configured one if not given'),
      text('username', 'username', 'user; the configured one if not given'),
      text('password', 'password', 'password; the configured one if not given'),
      text('node', 'node', 'template of the node'),
      text('type', 'type', 'template of the type'),
      text('resource', 'resource', 'template of the resource'),
      text('metricName', 'metric_name', 'template of the metric'),
      text('messageKey', 'message_key', 'template of the key that identifies the alert'),
      entry('additionalInfo', 'additional_info', 'adds a field'),
    ],
  },
  {
    name: 'victorOps',
    aliases: [],
    kind: 'victorops',
    className: 'VictorOpsHandler',
    summary: 'sends events to VictorOps',
    parameters: [],
    create: () => ({}),
    properties: [text('routingKey', 'routing-key', 'route; the configured one if not given')],
  },
  {
    name: 'zenoss',
    aliases: [],
    kind: 'zenoss',
    className: 'ZenossHandler',
    summary: 'sends events to Zenoss',
    parameters: [],
    create: () => ({}),
    properties: [
      text('action', 'action', 'router; the configured one if not given'),
      text('method', 'method', 'method of the router; the configured one if not given'),
      text('type', 'type', 'type of the call; the configured one if not given'),
      integer('tid', 'tid', 'number of the call; the configured one if not given'),
      text('summary', 'summary', 'template of the summary'),
      text('device', 'device', 'template of the device'),
      text('component', 'component', 'template of the component'),
      text('eventClassKey', 'eventclasskey', 'template of the key of the event class'),
      text('eventClass', 'eventclass', 'template of the event class'),
      text('message', 'message', 'template of the message'),
      text('collector', 'collector', 'template of the collector'),
      entry('customField', 'custom_fields', 'adds a field'),
    ],
  },
];
