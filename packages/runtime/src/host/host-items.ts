// What a task host asks of the engine's services for its tasks.
import { unreachable } from '@tidemark/core';
import type { HostedTask } from './hosted-task.ts';
import type { HostItem } from './protocol.ts';
import type { RpcClient } from './rpc-client.ts';
import type { RpcServer } from './rpc-server.ts';

/** The host that sent an item. */
type ItemHost = {
  readonly client: RpcClient;
  readonly rpcServer: RpcServer;
  readonly tasks: ReadonlyMap<number, HostedTask>;
};

/** Does what the item says, with the services of its task. Throws what a service throws. */
export function serveItem(
  host: ItemHost,
  item: HostItem,
  logUdf: (functionName: string, line: string) => void,
): void {
  const task = 'task' in item ? host.tasks.get(item.task) : undefined;
  switch (item.kind) {
    case 'open-topic':
      task?.topicOpened(item.topic);
      task?.services.alerts.openAnonymousTopic(item.topic, item.handlers);
      break;
    case 'close-topic':
      task?.topicClosed(item.topic);
      task?.services.alerts.closeAnonymousTopic(item.topic);
      break;
    case 'publish':
      task?.services.alerts.publish(item.topic, item.event);
      break;
    case 'update-event':
      task?.services.alerts.updateEvent(item.topic, item.event);
      break;
    case 'inhibit':
      task?.services.alerts.inhibitions.set(item.inhibition, item.isActive);
      break;
    case 'log':
      task?.services.log.log(item.level, item.nodeName, item.message, item.context);
      break;
    case 'udf-line':
      logUdf(item.functionName, item.line);
      break;
    case 'loopback':
      task?.services.loopback.writeBatch(item.batch, item.cause);
      break;
    case 'tapped':
      for (const each of host.tasks.values()) if (each.tapped(item.tap, item.messages)) break;
      break;
    case 'close-sideload':
      host.rpcServer.closeSideload(item.source);
      break;
    case 'call':
      host.rpcServer.call(item, {
        resolve: (value) => host.client.send({ kind: 'reply', id: item.id, value }),
        reject: (message) => host.client.send({ kind: 'refusal', id: item.id, message }),
      });
      break;
    case 'cancel':
      host.rpcServer.cancel(item.id);
      break;
    case 'failed':
      task?.fail(item.error, item.remains);
      break;
    case 'answer':
    case 'fault':
      // The client handles these itself.
      break;
    default:
      unreachable(item);
  }
}
