// tcp: sends each event as one line of JSON over a TCP connection of its own.
import { str } from '@tidemark/settings/tables';
import { defineHandler } from '../definition/handler-definition.ts';

export const tcpHandler = defineHandler({
  kind: 'tcp',
  doc: 'Sends each event as one line of JSON over a TCP connection of its own.',
  options: {
    address: { ...str('Receiver as `host:port`.'), reaches: 'host' },
  },
  script: {
    name: 'tcp',
    className: 'TcpHandler',
    arguments: [{ option: 'address', name: 'address' }],
  },
});
