// snmptrap: sends an SNMP v2c trap.
import { json, str } from '@tidemark/settings/tables';
import { parameter } from '../evaluate/parameter.ts';
import { appended, defineHandler } from '../definition/handler-definition.ts';

export const snmptrapHandler = defineHandler({
  kind: 'snmptrap',
  doc: 'Sends an SNMP v2c trap.',
  options: {
    'trap-oid': str('Object id of the trap.'),
    'data-list': json('Values `{oid, type, value}`; values are templates.', []),
  },
  script: {
    name: 'snmpTrap',
    className: 'SNMPTrapHandler',
    arguments: [{ option: 'trap-oid', name: 'trapOid' }],
    properties: {
      data: {
        option: 'data-list',
        summary: 'adds a value: its oid, type (c i n s t) and template',
        style: 'call',
        parameters: [
          parameter('oid', 'string'),
          parameter('type', 'string'),
          parameter('value', 'string'),
        ],
        apply: (before, values) =>
          appended(before, {
            oid: values.string(0),
            type: values.string(1),
            value: values.string(2),
          }),
      },
    },
    validate: (options) =>
      options['trap-oid'] === ''
        ? {
            text: 'invalid SNMP trap "": you must supply a trap Oid',
            hint: "name the trap: .snmpTrap('1.3.6.1.4.1.1')",
          }
        : undefined,
  },
});
